/* fault_locks.h - the number of mutexes that a thread holds, in a program that is linked with --wrap for the pthread
 * functions. */
#ifndef FAULT_LOCKS_H
#define FAULT_LOCKS_H

int locks_held(void);

#endif
