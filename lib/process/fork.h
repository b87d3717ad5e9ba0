/* fork.h - locks around a fork. */
#ifndef CF__FORK_H
#define CF__FORK_H

void cf__fork_start(void); /* of the program or shared object */

#endif
