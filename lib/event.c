/* event.c - events: the driver's own. */
#include "internal.h"

static int enter_event(struct cf__place *place, const char *function, const char *name, cf_event event)
{
    return event ? cf__enter_handle(place, function, name, CF__EVENT, event)
                 : cf__fail(CF_EINVAL, "%s: %s is NULL", function, name);
}

/* Waiting and asking must not break a capture that another stream is in. */
static CUresult relaxed(const struct cf__place *place, CUresult (*call)(CUevent event), cf_event event)
{
    int mode = cf__relax(place->driver);
    CUresult result = call(event);
    cf__unrelax(place->driver, mode);
    return result;
}

/* What this thread launched before the mark is done. */
static void note_reached(const struct cf__place *place, cf_event event)
{
    if (place->driver->is_host)
        return;
    const struct cf__mark mark = cf__handle_marked(event);
    cf__note_reached(&mark);
}

static int leave_event(struct cf__place *place, CUresult result, const char *call, const char *function, cf_event event)
{
    int status = result == CUDA_SUCCESS
                     ? CF_OK
                     : cf__fail_driver(place->driver, result, call, "%s: event %p", function, (void *)event);
    cf__leave(place);
    return status;
}

/* What the driver says of an event that was last recorded in a capture; the first where it goes on, which that may
 * end. */
static int is_captured(CUresult result)
{
    return result == CUDA_ERROR_CAPTURED_EVENT || result == CUDA_ERROR_INVALID_VALUE;
}

static int fail_captured(const struct cf__place *place, CUresult result, const char *call, const char *function,
                         const char *name, cf_event event)
{
    const char *where = result == CUDA_ERROR_CAPTURED_EVENT ? "a stream that is being captured" : "a capture";
    return cf__fail_driver(place->driver, result, call, "%s: %s %p was last recorded in %s, and has no mark", function,
                           name, (void *)event, where);
}

/* As leave_event(), of what asks for the event's mark. */
static int leave_mark(struct cf__place *place, CUresult result, const char *call, const char *function, cf_event event)
{
    if (!is_captured(result))
        return leave_event(place, result, call, function, event);
    int status = fail_captured(place, result, call, function, "event", event);
    cf__leave(place);
    return status;
}

int cf_event_create(cf_event *event)
{
    if (!event)
        return cf__fail(CF_EINVAL, "cf_event_create: event is NULL");
    struct cf__place place;
    int status = cf__enter(&place, "cf_event_create", NULL);
    if (status != CF_OK)
        return status;
    CUevent made;
    CUresult result = place.driver->cuEventCreate(&made, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS)
        *event = cf__handle_keep(&place, CF__EVENT, made);
    else
        status = cf__fail_driver(place.driver, result, "cuEventCreate", "cf_event_create");
    cf__leave(&place);
    return status;
}

int cf_event_destroy(cf_event event)
{
    if (!event)
        return CF_OK;
    struct cf__place place;
    int status = enter_event(&place, "cf_event_destroy", "event", event);
    if (status != CF_OK)
        return status;
    unsigned int serial = cf__handle_serial(CF__EVENT, event);
    CUresult result = relaxed(&place, place.driver->cuEventDestroy, event);
    if (result == CUDA_SUCCESS)
        cf__handle_drop(CF__EVENT, event, serial);
    return leave_event(&place, result, "cuEventDestroy", "cf_event_destroy", event);
}

/* A driver takes marks in streams of the event's own context alone. */
static int fail_record(const struct cf__place *place, CUresult result, cf_event event, cf_stream stream)
{
    CUcontext of_event = cf__handle_context(CF__EVENT, event);
    if (result == CUDA_ERROR_INVALID_HANDLE && of_event && of_event != place->context)
        return cf__fail_driver(place->driver, result, "cuEventRecord",
                               "cf_event_record: event %p and stream %p are of different devices", (void *)event,
                               (void *)stream);
    return cf__fail_handle(place->driver, result, "cuEventRecord", "cf_event_record", "event", event, stream);
}

int cf_event_record(cf_event event, cf_stream stream)
{
    if (!event)
        return cf__fail(CF_EINVAL, "cf_event_record: event is NULL");
    struct cf__place place;
    int status = cf__handle_check("cf_event_record", "event", CF__EVENT, event);
    if (status == CF_OK)
        status = cf__enter(&place, "cf_event_record", stream);
    if (status != CF_OK)
        return status;
    if (cf__host_owns(event) != place.driver->is_host) {
        cf__leave(&place);
        return cf__fail(CF_EINVAL, "cf_event_record: event %p and stream %p are of different devices", (void *)event,
                        (void *)stream);
    }
    /* Noted before, so that no thread that waits for the new mark takes it for the one before. */
    if (!place.driver->is_host) {
        const struct cf__mark mark = cf__mark(&place, stream);
        cf__handle_mark(event, &mark);
    }
    CUresult result = place.driver->cuEventRecord(event, stream);
    if (result != CUDA_SUCCESS) {
        cf__handle_mark(event, &(const struct cf__mark){.thread = 0});
        status = fail_record(&place, result, event, stream);
    }
    cf__leave(&place);
    return status;
}

int cf__event_wait(const char *function, cf_event event)
{
    struct cf__place place;
    int status = enter_event(&place, function, "event", event);
    if (status != CF_OK)
        return status;
    CUresult result = relaxed(&place, place.driver->cuEventSynchronize, event);
    if (result == CUDA_SUCCESS)
        note_reached(&place, event);
    return leave_mark(&place, result, "cuEventSynchronize", function, event);
}

int cf_event_sync(cf_event event)
{
    return cf__event_wait("cf_event_sync", event);
}

int cf_event_query(cf_event event)
{
    struct cf__place place;
    int status = enter_event(&place, "cf_event_query", "event", event);
    if (status != CF_OK)
        return status;
    CUresult result = relaxed(&place, place.driver->cuEventQuery, event);
    if (result == CUDA_SUCCESS)
        note_reached(&place, event);
    if (result != CUDA_ERROR_NOT_READY)
        return leave_mark(&place, result, "cuEventQuery", "cf_event_query", event);
    cf__leave(&place);
    return CF_ENOTREADY;
}

/* What the driver says of an event's time: CUDA_ERROR_INVALID_HANDLE of one that was never recorded, one that was made
 * without times, and one that is none. */
static CUresult ask_time(const struct cf__driver *driver, cf_event event)
{
    float none;
    return driver->cuEventElapsedTime(&none, event, event);
}

static int fail_elapsed(const struct cf__place *place, CUresult result, cf_event start, cf_event stop)
{
    static const char *const whys[] = {"", "; start was never recorded, or has no times",
                                       "; stop was never recorded, or has no times",
                                       "; neither was ever recorded, or they have no times"};
    const struct cf__driver *driver = place->driver;
    int why = 0;
    if (result == CUDA_ERROR_INVALID_HANDLE || is_captured(result)) {
        CUresult of_start = ask_time(driver, start), of_stop = ask_time(driver, stop);
        int is_start = is_captured(of_start);
        if (is_start || is_captured(of_stop))
            return fail_captured(place,
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
    struct cf__place place;
    int status = cf__handle_check("cf_event_elapsed", "stop", CF__EVENT, stop);
    if (status == CF_OK)
        status = enter_event(&place, "cf_event_elapsed", "start", start);
    if (status != CF_OK)
        return status;
    if (cf__host_owns(stop) != place.driver->is_host) {
        cf__leave(&place);
        return cf__fail(CF_EINVAL, "cf_event_elapsed: start %p and stop %p are of different devices", (void *)start,
                        (void *)stop);
    }
    CUresult result = place.driver->cuEventElapsedTime(milliseconds, start, stop);
    if (result != CUDA_SUCCESS)
        status = fail_elapsed(&place, result, start, stop);
    cf__leave(&place);
    return status;
}
