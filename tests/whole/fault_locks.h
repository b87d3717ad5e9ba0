/* fault_locks.h - how many mutexes a thread holds, for a program that is linked with --wrap of what takes them. */
#ifndef FAULT_LOCKS_H
#define FAULT_LOCKS_H

int locks_held(void);

#endif
