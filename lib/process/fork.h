/* fork.h - locks around a fork. */
#ifndef CF__FORK_H
#define CF__FORK_H

/* Registers handlers of fork(), at the start of the program or shared object. */
void cf__fork_start(void);

#endif
