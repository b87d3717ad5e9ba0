/* stream.c - streams. They are the driver's own. */
#include <cuferry.h>

#include "stream/stream.h"

#include "base/error.h"
#include "base/fast.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "stream/event.h"

static int fail_stream(const struct cf__scope *scope, CUresult result, const char *call, const char *function,
                       cf_stream stream)
{
    return cf__fail_driver(scope->driver, result, call, "%s: stream %p", function, (void *)stream);
}

/* ---- Captures ---- */

CF__HOT int cf__stream_check_wait(const char *function, const struct cf__scope *scope, cf_stream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = scope->driver->cuStreamIsCapturing(stream, &status);
    if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return cf__fail_driver(
            scope->driver, result, "cuStreamIsCapturing",
            "%s: the default stream cannot be used while a stream that is ordered with it is captured", function);
    if (result != CUDA_SUCCESS)
        return fail_stream(scope, result, "cuStreamIsCapturing", function, stream);
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
        return cf__fail(CF_ECAPTURE, "%s: stream %p is being captured; nothing in it is done before the graph runs",
                        function, (void *)stream);
    return CF_OK;
}

/* ---- Creation and destruction ---- */

static int create_stream(const char *function, cf_stream *stream, int has_priority, int priority)
{
    if (!stream)
        return cf__fail(CF_EINVAL, "%s: stream is NULL", function);
    struct cf__scope scope;
    int status = cf__enter(&scope, function, NULL);
    if (status != CF_OK)
        return status;
    CUstream made;
    int mode = cf__capture_relax(scope.driver);
    CUresult result = has_priority ? scope.driver->cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, priority)
                                   : scope.driver->cuStreamCreate(&made, CU_STREAM_NON_BLOCKING);
    cf__capture_restore(scope.driver, mode);
    if (result == CUDA_SUCCESS)
        *stream = cf__handle_add(&scope, CF__STREAM, made);
    else
        status = cf__fail_driver(scope.driver, result, has_priority ? "cuStreamCreateWithPriority" : "cuStreamCreate",
                                 "%s", function);
    cf__leave(&scope);
    return status;
}

int cf_stream_create(cf_stream *stream)
{
    return create_stream("cf_stream_create", stream, 0, 0);
}

/* The driver replaces a priority that the device does not support by the nearest one. */
int cf_stream_create_with_priority(cf_stream *stream, int priority)
{
    return create_stream("cf_stream_create_with_priority", stream, 1, priority);
}

int cf_stream_priorities(int *least, int *greatest)
{
    if (!least || !greatest)
        return cf__fail(CF_EINVAL, "cf_stream_priorities: %s is NULL", least ? "greatest" : "least");
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_stream_priorities", NULL);
    if (status != CF_OK)
        return status;
    int low, high;
    CUresult result = scope.driver->cuCtxGetStreamPriorityRange(&low, &high);
    if (result == CUDA_SUCCESS) {
        *least = low;
        *greatest = high;
    } else {
        status = cf__fail_driver(scope.driver, result, "cuCtxGetStreamPriorityRange", "cf_stream_priorities");
    }
    cf__leave(&scope);
    return status;
}

/* Fails if another library created the stream and the driver does not report its context, for example because its
 * capture is invalidated: the entered context may then be wrong. */
static int check_entered(const struct cf__scope *scope, cf_stream stream)
{
    CUcontext context;
    if (scope->driver->is_cpu || cf__stream_is_default(stream) || cf__handle_serial(CF__STREAM, stream))
        return CF_OK;
    CUresult result = scope->driver->cuStreamGetCtx(stream, &context);
    return result == CUDA_SUCCESS ? CF_OK : fail_stream(scope, result, "cuStreamGetCtx", "cf_stream_device", stream);
}

int cf_stream_device(cf_stream stream, int *device)
{
    if (!device)
        return cf__fail(CF_EINVAL, "cf_stream_device: device is NULL");
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_stream_device", stream);
    if (status != CF_OK)
        return status;
    status = check_entered(&scope, stream);
    if (status == CF_OK)
        status = cf__scope_device(&scope, "cf_stream_device", device);
    cf__leave(&scope);
    return status;
}

int cf_stream_destroy(cf_stream stream)
{
    if (!stream)
        return CF_OK;
    if (cf__stream_is_default(stream))
        return cf__fail(CF_EINVAL, "cf_stream_destroy: a default stream cannot be destroyed");
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_stream_destroy", stream);
    if (status != CF_OK)
        return status;
    status = cf__stream_check_wait("cf_stream_destroy", &scope, stream);
    if (status == CF_OK) {
        unsigned int serial = cf__handle_serial(CF__STREAM, stream);
        int mode = cf__capture_relax(scope.driver);
        cf__context_observer.stream_ends(&scope, stream);
        CUresult result = scope.driver->cuStreamDestroy(stream);
        cf__capture_restore(scope.driver, mode);
        if (result != CUDA_SUCCESS)
            status = fail_stream(&scope, result, "cuStreamDestroy", "cf_stream_destroy", stream);
        else
            cf__handle_remove(CF__STREAM, stream, serial);
    }
    cf__leave(&scope);
    return status;
}

/* ---- Waits and queries ---- */

/* Waits for a stream, or queries whether its work is complete, without invalidating a capture of another stream. */
static int wait_or_query(const char *function, cf_stream stream, int is_query)
{
    struct cf__scope scope;
    int status = cf__enter(&scope, function, stream);
    if (status != CF_OK)
        return status;
    status = cf__stream_check_wait(function, &scope, stream);
    if (status == CF_OK) {
        int mode = cf__capture_relax(scope.driver);
        CUresult result = (is_query ? scope.driver->cuStreamQuery : scope.driver->cuStreamSynchronize)(stream);
        cf__capture_restore(scope.driver, mode);
        if (result == CUDA_SUCCESS)
            cf__inflight_waited(&scope, stream);
        else if (is_query && result == CUDA_ERROR_NOT_READY)
            status = CF_ENOTREADY;
        else
            status = fail_stream(&scope, result, is_query ? "cuStreamQuery" : "cuStreamSynchronize", function, stream);
    }
    cf__leave(&scope);
    return status;
}

int cf_stream_sync(cf_stream stream)
{
    return wait_or_query("cf_stream_sync", stream, 0);
}

int cf_stream_query(cf_stream stream)
{
    return wait_or_query("cf_stream_query", stream, 1);
}

/* ---- Order ---- */

static int is_capturing(const struct cf__scope *scope, cf_stream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return scope->driver->cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Waits for an event of the other driver. The calling thread waits, and not the stream. */
static int wait_across(const struct cf__scope *scope, cf_stream stream, cf_event event)
{
    if (is_capturing(scope, stream))
        return cf__fail(CF_ECAPTURE, "cf_stream_wait: a graph cannot wait for an event of another driver, of %s",
                        cf__cpu_owns(event) ? "CF_HOST" : "a GPU");
    return cf__event_wait("cf_stream_wait", event);
}

/* Returns 1 if the result means that the event's capture has ended. The GPUs' driver returns INVALID_VALUE for this
 * (CUDA 13.0), and for no other error of this call. The CPU driver also returns it for unknown handles. */
static int is_of_ended_capture(const struct cf__scope *scope, CUresult result)
{
    return result == CUDA_ERROR_CAPTURED_EVENT || (result == CUDA_ERROR_INVALID_VALUE && !scope->driver->is_cpu);
}

/* Fails with CF_EINVAL and not with CF_ECAPTURE, because no capture is open. */
static int fail_ended(const struct cf__scope *scope, CUresult result, cf_event event)
{
    int status = cf__fail_driver(scope->driver, result, "cuStreamWaitEvent",
                                 "cf_stream_wait: event %p was last recorded in a capture that has ended; record it "
                                 "again, in work that is to be waited for",
                                 (void *)event);
    return status == CF_ECAPTURE ? CF_EINVAL : status;
}

int cf_stream_wait(cf_stream stream, cf_event event)
{
    if (!event)
        return cf__fail(CF_EINVAL, "cf_stream_wait: event is NULL");
    struct cf__scope scope;
    int status = cf__handle_check("cf_stream_wait", "event", CF__EVENT, event);
    if (status == CF_OK)
        status = cf__enter(&scope, "cf_stream_wait", stream);
    if (status != CF_OK)
        return status;
    if (cf__cpu_owns(event) != scope.driver->is_cpu) {
        status = wait_across(&scope, stream, event);
    } else {
        CUresult result = scope.driver->cuStreamWaitEvent(stream, event, 0);
        if (is_of_ended_capture(&scope, result))
            status = fail_ended(&scope, result, event);
        else if (result != CUDA_SUCCESS)
            status =
                cf__fail_handle(scope.driver, result, "cuStreamWaitEvent", "cf_stream_wait", "event", event, stream);
    }
    cf__leave(&scope);
    return status;
}

int cf_stream_call(cf_stream stream, cf_stream_function *function, void *data)
{
    if (!function)
        return cf__fail(CF_EINVAL, "cf_stream_call: function is NULL");
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_stream_call", stream);
    if (status != CF_OK)
        return status;
    CUresult result = scope.driver->cuLaunchHostFunc(stream, function, data);
    if (result != CUDA_SUCCESS)
        status = fail_stream(&scope, result, "cuLaunchHostFunc", "cf_stream_call", stream);
    cf__leave(&scope);
    return status;
}
