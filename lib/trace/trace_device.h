/* trace_device.h - measures device times for a trace. */
#ifndef CF__TRACE_DEVICE_H
#define CF__TRACE_DEVICE_H

#include <stdint.h>

#include "driver/driver.h"

struct cf__trace_clock;
struct cf__trace_pending;

/* A piece of enqueued work, timed by events before and after it. */
struct cf__trace_device_span {
    struct cf__trace_clock *clock; /* clock of the context; NULL: the work gets no device times */
    struct cf__trace_pending *pending;
    int64_t begin; /* start of the call in nanoseconds */
    int is_captured;
};

/* Called before and after a call that enqueues on `stream` in the current context of a real driver. `category` and
 * `name` of the device's span must stay valid until the trace is closed; `args` is copied. */
void cf__trace_device_begin(struct cf__trace_device_span *span, const struct cf__driver *driver, CUstream stream);
void cf__trace_device_end(struct cf__trace_device_span *span, const struct cf__driver *driver, CUresult result,
                          CUstream stream, const char *category, const char *name, const char *args);

/* Writes the finished spans of the current context. Called after waits. */
void cf__trace_device_collect(const struct cf__driver *driver);

/* Called after a stream was destroyed; another stream gets its row once its spans are written. */
void cf__trace_device_stream_destroyed(const struct cf__driver *driver, CUstream stream);

/* Called after contexts were destroyed, whose spans are lost. */
void cf__trace_device_contexts_destroyed(const struct cf__driver *driver);

/* Writes the finished spans of all contexts that can be entered. Returns the number of lost spans. Also frees
 * everything if `is_final`. */
uint64_t cf__trace_device_finish(int is_final);

#endif
