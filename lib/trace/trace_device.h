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

/* Begin and end the measurement of a call that enqueues on `stream` in the current context of a real driver. The
 * category and name of the device's span have to stay valid until the trace is closed; the arguments are copied. */
void cf__trace_device_begin(struct cf__trace_device_span *span, const struct cf__driver *driver, CUstream stream);
void cf__trace_device_end(struct cf__trace_device_span *span, const struct cf__driver *driver, CUresult result,
                          CUstream stream, const char *category, const char *name, const char *args);

/* Writes the finished spans of the current context. Called after waits. */
void cf__trace_device_collect(const struct cf__driver *driver);

/* Called after a stream was destroyed. When its spans are written, another stream may get its row. */
void cf__trace_device_stream_destroyed(const struct cf__driver *driver, CUstream stream);

/* Called after contexts were destroyed. Their spans are lost. */
void cf__trace_device_contexts_destroyed(const struct cf__driver *driver);

/* Writes the finished spans of all contexts that can be entered. If `is_final`, also frees everything. Returns the
 * number of lost spans. */
uint64_t cf__trace_device_finish(int is_final);

#endif
