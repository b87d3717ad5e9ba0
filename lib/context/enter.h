/* enter.h - entering devices and contexts. */
#ifndef CF__ENTER_H
#define CF__ENTER_H

#include <cuferry.h>

#include "driver/driver.h"
#include "context/handle.h"

extern _Thread_local int
    cf__thread_has_device; /* cf_device_use() was called: the thread's device is not the default one */

/* The device that cf_device_use() chose for the calling thread, where it was called; and another choice for a while,
 * which returns the one before. */
struct cf__thread_device {
    int is_chosen, device;
};
struct cf__thread_device cf__thread_device_set(struct cf__thread_device chosen);

/* Where a call runs: its context is current on the thread between enter and leave. */
struct cf__scope {
    const struct cf__driver *driver;
    CUcontext context;
    int pushed; /* leave has to pop it */
};

/* Enter the device of `stream`, or where it is NULL that of the calling thread, for `function`, which messages name. */
int cf__enter(struct cf__scope *scope, const char *function, cf_stream stream);

/* Enter a context of a driver. */
int cf__enter_context(struct cf__scope *scope, const char *function, const struct cf__driver *driver,
                      CUcontext context);
void cf__leave(struct cf__scope *scope);

/* The last step of entering where GPUs are the default and the thread has no context: it is lent that of GPU 0. */
int cf__push_default(struct cf__scope *scope, const char *function);

/* The number of the scope's device: CF_HOST or a GPU's. */
int cf__scope_device(const struct cf__scope *scope, const char *function, int *device);

/* Enter the primary context of a device; or the thread's own where that is of this device and cf_device_use() has not
 * chosen the primary one. */
int cf__enter_device(struct cf__scope *scope, const char *function, int device);
int cf__enter_current_or_primary(struct cf__scope *scope, const char *function, int device);

/* Enters a context of the driver that an event, a graph or an executable graph belongs to: its own, as far as that is
 * known, else one that there is already. The thread's device is not started for this. */
int cf__enter_handle(struct cf__scope *scope, const char *function, const char *name, enum cf__handle_kind kind,
                     const void *handle);

/* The driver that a stream, an event or a graph belongs to, for the argument `name` of `function`. */
int cf__handle_driver(const char *function, const char *name, enum cf__handle_kind kind, const void *handle,
                      const struct cf__driver **driver);

/* cf__enter() that does not fail in a lost context. */
int cf__enter_even_lost(struct cf__scope *scope, const char *function, cf_stream stream);

#endif
