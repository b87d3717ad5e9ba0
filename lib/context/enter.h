/* enter.h - enters devices and contexts. */
#ifndef CF__ENTER_H
#define CF__ENTER_H

#include <cuferry.h>

#include "driver/driver.h"
#include "context/handle.h"
#include "context/scope.h"

struct cf__context;

extern _Thread_local int
    cf__thread_has_device; /* 1 after cf_device_use(), when the thread does not use the default device */

/* The device that cf_device_use() chose for the calling thread. */
struct cf__thread_device {
    int is_chosen, device;
};

/* Sets the calling thread's device and returns the earlier choice, which the caller may restore. */
struct cf__thread_device cf__thread_device_set(struct cf__thread_device chosen);

/* Messages of the functions below that return a status name `function`. If entering fails, there is no scope to
 * leave. */

/* Enters the context of `stream`, or for a default stream the device of the calling thread. */
int cf__enter(struct cf__scope *scope, const char *function, cf_stream stream);

/* Enters the same context as cf__enter(), and does not fail if the context is lost. */
int cf__enter_even_lost(struct cf__scope *scope, const char *function, cf_stream stream);

/* Enters a context of a driver. */
int cf__enter_context(struct cf__scope *scope, const char *function, const struct cf__driver *driver,
                      CUcontext context);

/* Enters the primary context of a device. */
int cf__enter_device(struct cf__scope *scope, const char *function, int device);

/* Enters the thread's current context if it belongs to this device and cf_device_use() was not called, and the primary
 * context of the device otherwise. */
int cf__enter_current_or_primary(struct cf__scope *scope, const char *function, int device);

/* Enters the context of an event, a graph or an executable graph, or any working context if the library has no record
 * of the handle. The primary context of the thread's device is activated only if no other context works. */
int cf__enter_handle(struct cf__scope *scope, const char *function, const char *name, enum cf__handle_kind kind,
                     const void *handle);

/* Pushes the primary context of GPU 0, for a thread without a context. The caller has set the scope's driver. */
int cf__push_default(struct cf__scope *scope, const char *function);

/* Leaves the scope; a second call has no effect. */
void cf__leave(struct cf__scope *scope);

/* Stores the number of the scope's device, which is CF_HOST or a GPU's number. */
int cf__scope_device(const struct cf__scope *scope, const char *function, int *device);

/* Stores in `*context` the record of the scope's context, and adds the record at the first use. Returns a status, whose
 * message names `function`. */
int cf__scope_context(const struct cf__scope *scope, const char *function, struct cf__context **context);

/* Stores the driver of a stream, an event or a graph. `name` is the handle's argument name in `function`. */
int cf__handle_driver(const char *function, const char *name, enum cf__handle_kind kind, const void *handle,
                      const struct cf__driver **driver);

#endif
