/* shutdown.h - the end of the library. */
#ifndef CF__SHUTDOWN_H
#define CF__SHUTDOWN_H

extern int cf__was_used; /* closing the shared object that holds the library has to give back */

#endif
