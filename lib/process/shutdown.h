/* shutdown.h - ends the library: cf_shutdown(), and the unloading of a shared object. */
#ifndef CF__SHUTDOWN_H
#define CF__SHUTDOWN_H

/* 1 after the first use of the library; everything is then freed when the shared object that holds the library is
 * unloaded. */
extern int cf__was_used;

#endif
