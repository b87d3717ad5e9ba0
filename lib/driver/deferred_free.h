/* deferred_free.h - notes objects whose free failed, and frees them at cf_shutdown(). */
#ifndef CF__DEFERRED_FREE_H
#define CF__DEFERRED_FREE_H

#include <stdint.h>

#include "driver/driver.h"

/* Frees one object; its context is current. */
typedef CUresult cf__free_function(const struct cf__driver *driver, uintptr_t object);

/* Functions that free device memory and pinned memory. */
cf__free_function cf__free_memory, cf__free_pinned;

/* Notes an object that could not be freed. cf__deferred_free_retry() calls `function` with `context` current. If there
 * is no memory for a note, it reports the object as lost. */
void cf__defer_free(const struct cf__driver *driver, CUcontext context, cf__free_function *function, uintptr_t object);

/* Frees an object whose context is current; if that fails, defers it to cf_shutdown(). Ignores 0. */
void cf__free_or_defer(const struct cf__driver *driver, CUcontext context, cf__free_function *function,
                       uintptr_t object);

/* Frees the noted objects. Returns the status of the latest failure; a note whose free fails again is kept. */
int cf__deferred_free_retry(void);

/* Drops the notes of a context that is gone, or with NULL all notes, without calling the driver. */
void cf__deferred_free_forget(CUcontext context);

/* The lock, for fork handlers. */
void cf__deferred_free_lock(void);
void cf__deferred_free_unlock(void);

#endif
