/* event.c - events. They are the driver's own. */
#include <cuferry.h>

#include "stream/event.h"

#include "base/error.h"
#include "base/fast.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/inflight.h"
#include "context/lost.h"

static int enter_event(struct cf__scope *scope, const char *function, const char *name, cf_event event)
{
    return event ? cf__enter_handle(scope, function, name, CF__EVENT, event)
                 : cf__fail(CF_EINVAL, "%s: %s is NULL", function, name);
}

/* Makes a call in relaxed capture mode: in another mode, it could invalidate a capture of another stream. */
static CUresult call_relaxed(const struct cf__scope *scope, CUresult (*call)(CUevent event), cf_event event)
{
    int mode = cf__capture_relax(scope->driver);
    CUresult result = call(event);
    cf__capture_restore(scope->driver, mode);
    return result;
}

/* Clears the calling thread's launches that precede the event's mark. */
static void note_reached(const struct cf__scope *scope, cf_event event)
{
    if (scope->driver->is_cpu)
        return;
    const struct cf__event_mark mark = cf__handle_get_mark(event);
    cf__inflight_reached(&mark);
}

static int leave_event(struct cf__scope *scope, CUresult result, const char *call, const char *function, cf_event event)
{
    int status = result == CUDA_SUCCESS
                     ? CF_OK
                     : cf__fail_driver(scope->driver, result, call, "%s: event %p", function, (void *)event);
    cf__leave(scope);
    return status;
}

/* Returns 1 for the results with which the driver rejects an event whose latest record is in a capture. While the
 * capture is open, the result is CAPTURED_EVENT, and the call may have invalidated the capture. */
static int is_captured(CUresult result)
{
    return result == CUDA_ERROR_CAPTURED_EVENT || result == CUDA_ERROR_INVALID_VALUE;
}

static int fail_captured(const struct cf__scope *scope, CUresult result, const char *call, const char *function,
                         const char *name, cf_event event)
{
    const char *where = result == CUDA_ERROR_CAPTURED_EVENT ? "a stream that is being captured" : "a capture";
    return cf__fail_driver(scope->driver, result, call, "%s: %s %p was last recorded in %s, and has no mark", function,
                           name, (void *)event, where);
}

/* Leaves the scope like leave_event(). It is used after calls that need the event's mark. */
static int leave_mark(struct cf__scope *scope, CUresult result, const char *call, const char *function, cf_event event)
{
    if (!is_captured(result))
        return leave_event(scope, result, call, function, event);
    int status = fail_captured(scope, result, call, function, "event", event);
    cf__leave(scope);
    return status;
}

static int create_event(const char *function, cf_event *event, unsigned int flags)
{
    if (!event)
        return cf__fail(CF_EINVAL, "%s: event is NULL", function);
    struct cf__scope scope;
    int status = cf__enter(&scope, function, NULL);
    if (status != CF_OK)
        return status;
    CUevent made;
    CUresult result = scope.driver->cuEventCreate(&made, flags);
    if (result == CUDA_SUCCESS)
        *event = cf__handle_add(&scope, CF__EVENT, made);
    else
        status = cf__fail_driver(scope.driver, result, "cuEventCreate", "%s", function);
    cf__leave(&scope);
    return status;
}

int cf_event_create(cf_event *event)
{
    return create_event("cf_event_create", event, CU_EVENT_DEFAULT);
}

int cf_event_create_with(cf_event *event, unsigned int flags)
{
    if (flags & ~(unsigned int)(CF_EVENT_NO_TIMING | CF_EVENT_BLOCKING))
        return cf__fail(CF_EINVAL,
                        "cf_event_create_with: flags are 0x%x, and only CF_EVENT_NO_TIMING and "
                        "CF_EVENT_BLOCKING exist",
                        flags);
    return create_event("cf_event_create_with", event,
                        (flags & CF_EVENT_NO_TIMING ? CU_EVENT_DISABLE_TIMING : 0) |
                            (flags & CF_EVENT_BLOCKING ? CU_EVENT_BLOCKING_SYNC : 0));
}

int cf_event_destroy(cf_event event)
{
    if (!event)
        return CF_OK;
    struct cf__scope scope;
    int status = enter_event(&scope, "cf_event_destroy", "event", event);
    if (status != CF_OK)
        return status;
    unsigned int serial = cf__handle_serial(CF__EVENT, event);
    CUresult result = call_relaxed(&scope, scope.driver->cuEventDestroy, event);
    if (result == CUDA_SUCCESS)
        cf__handle_remove(CF__EVENT, event, serial);
    return leave_event(&scope, result, "cuEventDestroy", "cf_event_destroy", event);
}

/* Fails to record an event, and explains that the driver records an event only in streams of the event's context. */
static int fail_record(const struct cf__scope *scope, CUresult result, cf_event event, cf_stream stream)
{
    CUcontext of_event = cf__handle_context(CF__EVENT, event);
    if (result == CUDA_ERROR_INVALID_HANDLE && of_event && of_event != scope->context)
        return cf__fail_driver(scope->driver, result, "cuEventRecord",
                               "cf_event_record: event %p and stream %p are of different devices", (void *)event,
                               (void *)stream);
    return cf__fail_handle(scope->driver, result, "cuEventRecord", "cf_event_record", "event", event, stream);
}

int cf_event_record(cf_event event, cf_stream stream)
{
    if (!event)
        return cf__fail(CF_EINVAL, "cf_event_record: event is NULL");
    struct cf__scope scope;
    int status = cf__handle_check("cf_event_record", "event", CF__EVENT, event);
    if (status == CF_OK)
        status = cf__enter(&scope, "cf_event_record", stream);
    if (status != CF_OK)
        return status;
    if (cf__cpu_owns(event) != scope.driver->is_cpu) {
        cf__leave(&scope);
        return cf__fail(CF_EINVAL, "cf_event_record: event %p and stream %p are of different devices", (void *)event,
                        (void *)stream);
    }
    /* The mark is set before the record, so that a thread that waits for the new record does not read the old mark. */
    if (!scope.driver->is_cpu) {
        const struct cf__event_mark mark = cf__inflight_take_mark(&scope, stream);
        cf__handle_set_mark(event, &mark);
    }
    CUresult result = scope.driver->cuEventRecord(event, stream);
    if (result != CUDA_SUCCESS) {
        cf__handle_set_mark(event, &(const struct cf__event_mark){.thread = 0});
        status = fail_record(&scope, result, event, stream);
    }
    cf__leave(&scope);
    return status;
}

int cf__event_wait(const char *function, cf_event event)
{
    struct cf__scope scope;
    int status = enter_event(&scope, function, "event", event);
    if (status != CF_OK)
        return status;
    CUresult result = call_relaxed(&scope, scope.driver->cuEventSynchronize, event);
    if (result == CUDA_SUCCESS)
        note_reached(&scope, event);
    return leave_mark(&scope, result, "cuEventSynchronize", function, event);
}

int cf_event_sync(cf_event event)
{
    return cf__event_wait("cf_event_sync", event);
}

int cf_event_query(cf_event event)
{
    struct cf__scope scope;
    int status = enter_event(&scope, "cf_event_query", "event", event);
    if (status != CF_OK)
        return status;
    CUresult result = call_relaxed(&scope, scope.driver->cuEventQuery, event);
    if (result == CUDA_SUCCESS)
        note_reached(&scope, event);
    if (result != CUDA_ERROR_NOT_READY)
        return leave_mark(&scope, result, "cuEventQuery", "cf_event_query", event);
    cf__leave(&scope);
    return CF_ENOTREADY;
}

/* Queries whether an event has a time. Returns CUDA_ERROR_INVALID_HANDLE if the handle is not an event, or if the event
 * was never recorded or was created without timing. */
static CUresult query_time(const struct cf__driver *driver, cf_event event)
{
    float none;
    return driver->cuEventElapsedTime(&none, event, event);
}

static int fail_elapsed(const struct cf__scope *scope, CUresult result, cf_event start, cf_event stop)
{
    static const char *const whys[] = {"", "; start was never recorded, or has no times",
                                       "; stop was never recorded, or has no times",
                                       "; neither was ever recorded, or they have no times"};
    const struct cf__driver *driver = scope->driver;
    int why = 0;
    if (result == CUDA_ERROR_INVALID_HANDLE || is_captured(result)) {
        CUresult of_start = query_time(driver, start), of_stop = query_time(driver, stop);
        int is_start = is_captured(of_start);
        if (is_start || is_captured(of_stop))
            return fail_captured(scope,
                                 is_captured(result) ? result
                                 : is_start          ? of_start
                                                     : of_stop,
                                 "cuEventElapsedTime", "cf_event_elapsed", is_start ? "start" : "stop",
                                 is_start ? start : stop);
        why = (of_start == CUDA_ERROR_INVALID_HANDLE) + 2 * (of_stop == CUDA_ERROR_INVALID_HANDLE);
    }
    return cf__fail_driver(driver, result, "cuEventElapsedTime", "cf_event_elapsed: start %p, stop %p%s", (void *)start,
                           (void *)stop, whys[why]);
}

int cf_event_elapsed(float *milliseconds, cf_event start, cf_event stop)
{
    if (!milliseconds || !stop)
        return cf__fail(CF_EINVAL, "cf_event_elapsed: %s is NULL", milliseconds ? "stop" : "milliseconds");
    struct cf__scope scope;
    int status = cf__handle_check("cf_event_elapsed", "stop", CF__EVENT, stop);
    if (status == CF_OK)
        status = enter_event(&scope, "cf_event_elapsed", "start", start);
    if (status != CF_OK)
        return status;
    if (cf__cpu_owns(stop) != scope.driver->is_cpu) {
        cf__leave(&scope);
        return cf__fail(CF_EINVAL, "cf_event_elapsed: start %p and stop %p are of different devices", (void *)start,
                        (void *)stop);
    }
    CUresult result = scope.driver->cuEventElapsedTime(milliseconds, start, stop);
    if (result != CUDA_SUCCESS)
        status = fail_elapsed(&scope, result, start, stop);
    cf__leave(&scope);
    return status;
}
