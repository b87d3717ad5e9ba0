/* shutdown.h - ends the library: cf_shutdown(), and the unloading of a shared object. */
#ifndef CF__SHUTDOWN_H
#define CF__SHUTDOWN_H

/* 1 after the first use of the library. Only then is there anything to free when the library's shared object is
 * unloaded. */
extern int cf__was_used;

#endif
