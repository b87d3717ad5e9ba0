/* lost.h - contexts that a fault took along. */
#ifndef CF__LOST_H
#define CF__LOST_H

#include "driver/driver.h"

struct cf__scope;

/* cf__fail() for a driver call: adds the call, the driver's name for the result and its text; maps it to a status. */
__attribute__((format(printf, 4, 5))) int cf__fail_driver(const struct cf__driver *driver, CUresult result,
                                                          const char *call, const char *format, ...);

/* Where a driver call has failed: notes which context is lost, if one is, and appends to the detail in `text`. Returns the
 * status, CF_EFAULT for any call in a lost context. */
int cf__note_lost(const struct cf__driver *driver, int status, char *text, size_t size);

/* Notes that a context is lost; `running` where that is known from before, else NULL. */
void cf__context_mark_lost(const struct cf__driver *driver, CUcontext handle, int device, const char *running);

/* Contexts that were lost count no more once they are gone, destroyed or reset by another library in the process. Before
 * a context is entered, where cf__gpu_state() has CF__GPU_LOST. */
void cf__contexts_review(void);

/* Whether a context of a GPU is known to be lost. */
int cf__is_lost(const struct cf__driver *driver, CUcontext handle);

/* CF_EFAULT where the scope's context is lost. Asked for where cf__gpu_state() has CF__GPU_LOST. */
int cf__check_lost(const struct cf__scope *scope, const char *function);

#endif
