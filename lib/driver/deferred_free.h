/* deferred_free.h - frees that are tried again at cf_shutdown(). */
#ifndef CF__DEFERRED_FREE_H
#define CF__DEFERRED_FREE_H

#include <stdint.h>

#include "driver/driver.h"

/* Frees one object, with its context current. */
typedef CUresult cf__free_function(const struct cf__driver *driver, uintptr_t object);

/* Free device memory, and pinned memory. */
cf__free_function cf__free_memory, cf__free_pinned;

/* Notes an object that could not be freed. cf__deferred_free_retry() calls `function` with `context` current, or
 * reports the object if there is no memory for a note. */
void cf__defer_free(const struct cf__driver *driver, CUcontext context, cf__free_function *function, uintptr_t object);

/* Frees an object whose context is current; a failure defers the free to cf_shutdown(). 0 is permitted. */
void cf__free_or_defer(const struct cf__driver *driver, CUcontext context, cf__free_function *function,
                       uintptr_t object);

/* Frees the noted objects. Returns the status of the last free that failed again; its note stays. */
int cf__deferred_free_retry(void);

/* Drops the notes of a context that is gone, or with NULL all notes, without calling the driver. */
void cf__deferred_free_forget(CUcontext context);

/* The lock, for fork. */
void cf__deferred_free_lock(void);
void cf__deferred_free_unlock(void);

#endif
