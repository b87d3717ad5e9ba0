/* fork.h - handles fork(). */
#ifndef CF__FORK_H
#define CF__FORK_H

/* Registers handlers of fork(), when the program starts or the shared object is loaded. */
void cf__fork_start(void);

#endif
