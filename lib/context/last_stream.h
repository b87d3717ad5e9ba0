/* last_stream.h - remembers the stream on which the calling thread enqueued last. */
#ifndef CF__LAST_STREAM_H
#define CF__LAST_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>

#include "base/fast.h"
#include "driver/driver.h"
#include "context/backend.h"
#include "context/enter.h"

/* The latest stream that the calling thread used, except default streams. cuLaunchKernel() and cuGraphLaunch() need no
 * current context for it, and refuse kernels and graphs of another context. So the fast path only compares the
 * context's id; the driver's result reveals a handle that was reused. */
struct cf__last_stream {
    cf_stream stream; /* the stream, or NULL */
    const struct cf__driver *driver;
    CUcontext context;
    unsigned long long id;
};
extern _Thread_local struct cf__last_stream cf__latest_stream;

/* Returns the driver of the last stream without calling that driver; NULL sends the call to the slow path. */
static inline const struct cf__driver *cf__last_stream_driver(cf_stream stream)
{
    const struct cf__last_stream *known = &cf__latest_stream;
    if (!stream || stream != known->stream || known->driver != cf__cuda_in_use() || cf__gpu_state() != CF__GPU_OURS ||
        cf__is_slow_path(-1))
        return NULL;
    return known->driver;
}

/* Returns the driver of the last stream if the driver reports the known id for the stream's context; NULL sends the
 * call to the slow path. */
static inline const struct cf__driver *cf__last_stream_look_up(cf_stream stream, unsigned long long *id)
{
    const struct cf__driver *driver = cf__last_stream_driver(stream);
    if (!driver || driver->cuCtxGetId(cf__latest_stream.context, id) != CUDA_SUCCESS || *id != cf__latest_stream.id)
        return NULL;
    return driver;
}

/* Stores the thread's current context, in which a call on the default stream runs. Stores NULL if there is none; the
 * call then runs on GPU 0. Returns the driver, or NULL if the call has to take the slow path, which it also takes if
 * the thread chose a device. */
static inline const struct cf__driver *cf__default_stream_context(CUcontext *context)
{
    const struct cf__driver *driver = cf__cuda_in_use();
    if (!driver || cf__gpu_state() != CF__GPU_OURS || cf__is_slow_path(-1) || cf__thread_has_device ||
        !__atomic_load_n(&cf__fast.is_cuda_default, __ATOMIC_ACQUIRE) ||
        driver->cuCtxGetCurrent(context) != CUDA_SUCCESS)
        return NULL;
    return driver;
}

/* Stores the id of the thread's current context, in which a call on the default stream runs. Returns the driver; NULL
 * sends the call to the slow path, also if the thread has no context. */
static inline const struct cf__driver *cf__default_stream_look_up(unsigned long long *id)
{
    CUcontext context;
    const struct cf__driver *driver = cf__default_stream_context(&context);
    return driver && context && driver->cuCtxGetId(context, id) == CUDA_SUCCESS ? driver : NULL;
}

/* Remembers a GPU's stream for the fast path of the next call; ignores default streams and the CPU's streams. */
static inline void cf__last_stream_set(cf_stream stream, const struct cf__scope *scope, unsigned long long id)
{
    if ((uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD && !scope->driver->is_cpu)
        cf__latest_stream = (struct cf__last_stream){stream, scope->driver, scope->context, id};
}

/* Returns 1 for an error that may mean that the handle was reused or its context lost, and forgets the last stream. The
 * caller then takes the slow path, which determines the cause. */
int cf__needs_slow_path(CUresult result);

#endif
