/* shutdown.h - cf_shutdown() and the end of a shared object. */
#ifndef CF__SHUTDOWN_H
#define CF__SHUTDOWN_H

/* 1 after the first use of the library: the end of the shared object that holds the library then frees everything. */
extern int cf__was_used;

#endif
