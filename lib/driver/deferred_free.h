/* deferred_free.h - frees that are tried again at cf_shutdown(). */
#ifndef CF__DEFERRED_FREE_H
#define CF__DEFERRED_FREE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

/* Frees one thing, with its context current. */
typedef CUresult cf__free_function(const struct cf__driver *driver, uintptr_t what);

/* Keeps what could not be freed, to be tried again at cf_shutdown() with the context current. */
void cf__defer_free(const struct cf__driver *driver, CUcontext context, cf__free_function *free_it, uintptr_t what);

/* Before `count` things are made that may all have to be kept when there is no memory any more; 0: there is none now. */
int cf__deferred_free_reserve(size_t count);

int cf__deferred_free_retry(void); /* the status of the latest that still fails, which stays */

/* The same without the driver: of a context that is gone, or with NULL of all. */
void cf__deferred_free_forget(CUcontext context);
void cf__deferred_free_end(void);  /* gives back what was reserved, where nothing is kept */
void cf__deferred_free_lock(void); /* for fork */
void cf__deferred_free_unlock(void);

#endif
