/* lost.h - detects contexts that a kernel's fault has destroyed, and reports failures of the driver, which reveal
 * them. */
#ifndef CF__LOST_H
#define CF__LOST_H

#include <cuferry.h>

#include "driver/driver.h"

struct cf__context;
struct cf__scope;

/* Fails like cf__fail() for a driver call: the detail also has the call, the driver's name of the result and its text.
 * Returns the status. */
__attribute__((format(printf, 4, 5))) int cf__fail_driver(const struct cf__driver *driver, CUresult result,
                                                          const char *call, const char *format, ...);

/* Fails for a driver call with a handle and a stream. The message names the one that the driver does not know, or both
 * if the failure has another cause. Returns the status. */
int cf__fail_handle(const struct cf__driver *driver, CUresult result, const char *call, const char *function,
                    const char *name, const void *handle, cf_stream stream);

/* Looks for a lost context after a failure of the driver, marks it, and appends it to the detail in `text`. Returns
 * CF_EFAULT if the call was in a lost context, else `status`. */
int cf__note_lost(const struct cf__driver *driver, int status, char *text, size_t size);

/* Marks a context as lost. `kernels` lists the kernels that were in flight. */
void cf__context_mark_lost(const struct cf__driver *driver, CUcontext handle, int device, const char *kernels);

/* Retires the records of lost contexts that another library has destroyed or reset. While cf__gpu_state() has
 * CF__GPU_LOST, it runs before a context is entered. */
void cf__contexts_review(void);

/* Returns 1 if a context of a GPU is marked as lost. */
int cf__is_lost(const struct cf__driver *driver, CUcontext handle);

/* Returns 1 if a context is lost, or if another library has destroyed it. */
int cf__context_is_gone(const struct cf__context *context);

/* Returns CF_EFAULT, with a message, if the scope's context is lost. Callers need it only while cf__gpu_state() has
 * CF__GPU_LOST. */
int cf__check_lost(const struct cf__scope *scope, const char *function);

#endif
