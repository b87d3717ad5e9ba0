/* last_stream.h - the stream that the calling thread enqueued on last. */
#ifndef CF__LAST_STREAM_H
#define CF__LAST_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>

#include "base/fast.h"
#include "driver/driver.h"
#include "context/drivers.h"
#include "context/enter.h"

/* The latest stream, no default one, that the calling thread enqueued on, and where it is. cuLaunchKernel() and
 * cuGraphLaunch() need no current context where the stream has one, and refuse what is of another context: so the
 * context alone has to be asked whether it is still the same, and a handle that another stream has by now is found out
 * by what the driver returns. */
struct cf__last_stream {
    cf_stream stream; /* NULL: none */
    const struct cf__driver *driver;
    CUcontext context;
    unsigned long long id;
};
extern _Thread_local struct cf__last_stream cf__latest_stream;

/* The driver of a stream that is known, as far as no driver is asked; NULL where the call has to go the long way. */
static inline const struct cf__driver *cf__last_stream_driver(cf_stream stream)
{
    const struct cf__last_stream *known = &cf__latest_stream;
    if (!stream || stream != known->stream || known->driver != cf__cuda_in_use() || cf__gpu_state() != CF__GPU_OURS ||
        cf__is_slow_path(-1))
        return NULL;
    return known->driver;
}

/* The same, and the id of its context. */
static inline const struct cf__driver *cf__last_stream_look_up(cf_stream stream, unsigned long long *id)
{
    const struct cf__driver *driver = cf__last_stream_driver(stream);
    if (!driver || driver->cuCtxGetId(cf__latest_stream.context, id) != CUDA_SUCCESS || *id != cf__latest_stream.id)
        return NULL;
    return driver;
}

/* The driver where a call on the default stream runs in the thread's own current context, and that: NULL where it has
 * none, and the call runs on GPU 0. No driver where it has another device, or the call has to go the long way. */
static inline const struct cf__driver *cf__default_stream_context(CUcontext *context)
{
    const struct cf__driver *driver = cf__cuda_in_use();
    if (!driver || cf__gpu_state() != CF__GPU_OURS || cf__is_slow_path(-1) || cf__thread_has_device ||
        !__atomic_load_n(&cf__fast.is_cuda_default, __ATOMIC_ACQUIRE) ||
        driver->cuCtxGetCurrent(context) != CUDA_SUCCESS)
        return NULL;
    return driver;
}

/* The same, and the id of that context. */
static inline const struct cf__driver *cf__default_stream_look_up(unsigned long long *id)
{
    CUcontext context;
    const struct cf__driver *driver = cf__default_stream_context(&context);
    return driver && context && driver->cuCtxGetId(context, id) == CUDA_SUCCESS ? driver : NULL;
}

static inline void cf__last_stream_set(cf_stream stream, const struct cf__scope *scope, unsigned long long id)
{
    if ((uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD && !scope->driver->is_cpu)
        cf__latest_stream = (struct cf__last_stream){stream, scope->driver, scope->context, id};
}

/* Whether what the driver returned may come of a handle that is another's by now, or has to be said with the context
 * that it is about: then the long way is gone, which finds out. */
int cf__needs_slow_path(CUresult result);

#endif
