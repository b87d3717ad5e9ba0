/* trace_device.h - device times of a trace. */
#ifndef CF__TRACE_DEVICE_H
#define CF__TRACE_DEVICE_H

#include <stdint.h>

#include "driver/driver.h"

/* The times of something that was enqueued, by events before and behind it. */
struct cf__timed {
    struct cf__clock *clock; /* NULL: no device times */
    struct cf__pending *pending;
    int64_t begin;
    int is_captured;
};

/* Around a call that enqueues on `stream` in the current context of `driver`, which is a real one. `name` and
 * `category` are of the device's span; they stay valid until the trace is closed. */
void cf__timed_begin(struct cf__timed *timed, const struct cf__driver *driver, CUstream stream);
void cf__timed_end(struct cf__timed *timed, const struct cf__driver *driver, CUresult result, CUstream stream,
                   const char *category, const char *name, const char *args);

/* Writes what has finished in the current context: behind calls that waited. */
void cf__timed_collect(const struct cf__driver *driver);

void cf__timed_stream_gone(const struct cf__driver *driver, CUstream stream);

/* Behind what destroys contexts. */
void cf__timed_contexts_gone(const struct cf__driver *driver);

/* Writes what has finished anywhere; returns how many times have been lost. `is_final`: frees everything, too. */
uint64_t cf__timed_finish(int is_final);

#endif
