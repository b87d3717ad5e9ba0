/* lost.c - contexts that were lost to a kernel's fault, and failures of the driver, which reveal them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>

#include "context/lost.h"

#include "base/bounds.h"
#include "base/error.h"
#include "base/fast.h"
#include "base/log.h"
#include "base/text.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "context/backend.h"
#include "context/context.h"
#include "context/handle.h"
#include "context/inflight.h"
#include "context/scope.h"

/* Returns an id for a context whose id the driver does not report any more; no driver counts that far. */
static unsigned long long make_up_id(void)
{
    static unsigned long long made;
    return CF__NO_CONTEXT - 1 - __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
}

static int is_made_up(unsigned long long id)
{
    return id > CF__NO_CONTEXT / 2;
}

void cf__context_mark_lost(const struct cf__driver *driver, CUcontext handle, int device, const char *kernels)
{
    unsigned long long id;
    struct cf__context *context = cf__context_by_handle(driver, handle);
    if (context && __atomic_load_n(&context->is_lost, __ATOMIC_ACQUIRE))
        return;
    if (!context && driver->cuCtxGetId(handle, &id) != CUDA_SUCCESS)
        id = make_up_id();
    cf__contexts_lock();
    if (!context && !(context = cf__context_by_id(id)))
        context = cf__context_add(driver, handle, id, device);
    int is_new = context && !context->is_lost;
    if (is_new) {
        if (kernels)
            snprintf(context->kernels, sizeof context->kernels, "%s", kernels);
        else
            cf__inflight_text(&context->id, 1, context->kernels, sizeof context->kernels);
        __atomic_store_n(&context->is_lost, 1, __ATOMIC_RELEASE);
        cf__gpu_mark(CF__GPU_LOST, 1);
    }
    cf__contexts_unlock();
    if (is_new)
        cf__log(CF_LOG_INFO, "the context of device %d was lost to a fault while %s running", device, context->kernels);
}

/* Sets `*is_destroyed` if there is no other context at the address either. */
static int is_context_gone(const struct cf__context *context, unsigned long long id, int *is_destroyed)
{
    unsigned long long now;
    CUresult result = context->driver->cuCtxGetId(context->handle, &now);
    *is_destroyed = result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return *is_destroyed || (result == CUDA_SUCCESS && now != id && !is_made_up(id));
}

/* Handles are marked before the device is used again and makes new ones. The record stays in use, with its id. */
static void retire_lost_record(struct cf__context *context, unsigned long long id, int is_destroyed)
{
    cf__contexts_lock();
    int was_lost = context->is_lost && context->id == id, device = context->device;
    if (was_lost) {
        int is_primary = device >= 0 && device < CF__MAX_DEVICES && cf__primary_held(device) == context->handle;
        if (is_primary && is_destroyed)
            cf__primary_drop(device, context->handle);
        cf__context_observer.lost_context_gone(context->handle, is_primary ? device : -1);
        cf__handles_reset(context->handle, device);
        __atomic_store_n(&context->is_lost, 0, __ATOMIC_RELEASE);
        cf__contexts_note_recovery();
    }
    cf__contexts_unlock();
    if (was_lost) {
        cf__context_observer.lost_context_retired(id, device);
        cf__log(CF_LOG_INFO, "the lost context of device %d is gone", device);
    }
}

void cf__contexts_review(void)
{
    for (struct cf__context *context = cf__context_next(NULL); context; context = cf__context_next(context)) {
        unsigned long long id = cf__context_id(context);
        int is_destroyed;
        if (__atomic_load_n(&context->is_lost, __ATOMIC_ACQUIRE) && !cf__log_is_inside() &&
            is_context_gone(context, id, &is_destroyed))
            retire_lost_record(context, id, is_destroyed);
    }
}

static const struct cf__context *find_lost(const struct cf__driver *driver, CUcontext handle)
{
    const struct cf__context *context = handle ? cf__context_by_handle(driver, handle) : NULL;
    return context && __atomic_load_n(&context->is_lost, __ATOMIC_ACQUIRE) ? context : NULL;
}

/* Contexts that fail and are not marked as lost yet. */
struct failing {
    CUcontext handles[CF__MAX_DEVICES];
    unsigned long long ids[CF__MAX_DEVICES];
    int devices[CF__MAX_DEVICES], count;
};

/* Adds a context to the list if it fails and is not there yet. */
static void probe_context(const struct cf__driver *driver, CUcontext context, struct failing *failing)
{
    CUcontext popped;
    int i = 0;
    while (i < failing->count && failing->handles[i] != context)
        i++;
    if (i < failing->count || i == CF__MAX_DEVICES || find_lost(driver, context) ||
        driver->cuCtxPushCurrent(context) != CUDA_SUCCESS)
        return;
    if (cf__result_status(driver->cuStreamQuery(NULL)) == CF_EFAULT) {
        failing->handles[i] = context;
        if (driver->cuCtxGetDevice(&failing->devices[i]) != CUDA_SUCCESS)
            failing->devices[i] = -1;
        const struct cf__context *record = cf__context_by_handle(driver, context);
        failing->ids[i] = record ? cf__context_id(record) : CF__NO_CONTEXT;
        failing->count++;
    }
    (void)driver->cuCtxPopCurrent(&popped);
}

/* A used context that is not marked as lost. */
struct used_context {
    CUcontext handle;
    unsigned long long id;
};

/* Lists at most CF__MAX_DEVICES of them; returns their number. */
static int list_used_contexts(const struct cf__driver *driver, struct used_context used[CF__MAX_DEVICES])
{
    int count = 0;
    cf__contexts_lock();
    const struct cf__context *context = NULL;
    while (count < CF__MAX_DEVICES && (context = cf__context_next(context)) != NULL)
        if (context->driver == driver && !context->is_lost)
            used[count++] = (struct used_context){context->handle, context->id};
    cf__contexts_unlock();
    return count;
}

/* Returns a context that was not marked as lost before, or NULL. The failed call may concern another context than the
 * current one, for example that of an event, so all retained and used contexts are probed. A driver may fail in all
 * contexts after a fault in one: the text of each names the kernels in flight in all of them. */
static const struct cf__context *find_newly_lost(const struct cf__driver *driver, CUcontext current)
{
    int mode = cf__capture_relax(driver); /* other devices may be captured on */
    unsigned long long id;
    struct failing failing = {.count = 0};
    struct used_context used[CF__MAX_DEVICES];
    char kernels[sizeof((struct cf__context *)NULL)->kernels];
    if (current)
        probe_context(driver, current, &failing);
    for (int device = 0; device < CF__MAX_DEVICES; device++) {
        CUcontext primary = cf__primary_held(device);
        if (primary)
            probe_context(driver, primary, &failing);
    }
    for (int count = list_used_contexts(driver, used); count-- > 0;) {
        if (driver->cuCtxGetId(used[count].handle, &id) == CUDA_SUCCESS && id == used[count].id)
            probe_context(driver, used[count].handle, &failing);
    }
    cf__capture_restore(driver, mode);
    cf__inflight_text(failing.ids, failing.count, kernels, sizeof kernels);
    for (int i = 0; i < failing.count; i++)
        cf__context_mark_lost(driver, failing.handles[i], failing.devices[i], kernels);
    return failing.count ? find_lost(driver, failing.handles[0]) : NULL;
}

static void describe_loss(const struct cf__context *context, char *text, size_t size)
{
    if (context->device >= 0)
        snprintf(text, size,
                 "device %d's context was lost to a fault while %s running; cf_device_reset(%d) may make the device "
                 "usable again, ending the process does",
                 context->device, context->kernels, context->device);
    else
        snprintf(text, size, "its context was lost to a fault while %s running", context->kernels);
}

/* Returns the lost context if there is a single one. */
static const struct cf__context *find_only_lost(const struct cf__driver *driver)
{
    const struct cf__context *only = NULL;
    int count = 0;
    cf__contexts_lock();
    for (const struct cf__context *context = cf__context_next(NULL); context; context = cf__context_next(context))
        if (context->driver == driver && context->is_lost) {
            only = context;
            count++;
        }
    cf__contexts_unlock();
    return count == 1 ? only : NULL;
}

int cf__note_lost(const struct cf__driver *driver, int status, char *text, size_t size)
{
    CUcontext current = NULL;
    if (driver->is_cpu || (status != CF_EFAULT && !(cf__gpu_state() & CF__GPU_LOST)))
        return status;
    if (driver->cuCtxGetCurrent(&current) != CUDA_SUCCESS)
        current = NULL;
    const struct cf__context *now = status == CF_EFAULT ? find_newly_lost(driver, current) : NULL;
    const struct cf__context *context = find_lost(driver, current);
    if (!context && status == CF_EFAULT)
        context = now ? now : find_only_lost(driver);
    size_t used = strlen(text);
    if (context && used + 2 < size) {
        memcpy(text + used, "; ", 3);
        describe_loss(context, text + used + 2, size - used - 2);
    } else if (status == CF_EFAULT) {
        cf__format(text + used, size - used, "; a context of this process was lost to a fault");
    }
    return context ? CF_EFAULT : status;
}

int cf__fail_driver(const struct cf__driver *driver, CUresult result, const char *call, const char *format, ...)
{
    char what[256], text[CF__DETAIL];
    va_list values;
    va_start(values, format);
    cf__vformat(what, sizeof what, format, values);
    va_end(values);
    cf__result_describe(driver, result, call, what, text, sizeof text);
    int status = cf__note_lost(driver, cf__result_status(result), text, sizeof text);
    return cf__fail_result(status, (int)result, text);
}

/* A driver does not report which of two handles it does not know, so it is asked about the stream alone. */
int cf__fail_handle(const struct cf__driver *driver, CUresult result, const char *call, const char *function,
                    const char *name, const void *handle, cf_stream stream)
{
    CUstreamCaptureStatus status;
    /* The CPU's driver returns INVALID_VALUE for unknown handles, too. */
    if (result != CUDA_ERROR_INVALID_HANDLE && !(driver->is_cpu && result == CUDA_ERROR_INVALID_VALUE))
        return cf__fail_driver(driver, result, call, "%s: %s %p, stream %p", function, name, handle, (void *)stream);
    if (driver->cuStreamIsCapturing(stream, &status) == CUDA_ERROR_INVALID_HANDLE)
        return cf__fail_driver(driver, result, call, "%s: stream %p", function, (void *)stream);
    return cf__fail_driver(driver, result, call, "%s: %s %p", function, name, handle);
}

int cf__is_lost(const struct cf__driver *driver, CUcontext handle)
{
    return cf__gpu_state() & CF__GPU_LOST && find_lost(driver, handle);
}

int cf__context_is_gone(const struct cf__context *context)
{
    unsigned long long id;
    CUresult result = context->driver->cuCtxGetId(context->handle, &id);
    return context->is_lost || (result == CUDA_SUCCESS ? id != context->id : cf__result_is_gone(result));
}

int cf__check_lost(const struct cf__scope *scope, const char *function)
{
    const struct cf__context *context = scope->driver->is_cpu ? NULL : find_lost(scope->driver, scope->context);
    char text[512];
    if (!context)
        return CF_OK;
    describe_loss(context, text, sizeof text);
    return cf__fail(CF_EFAULT, "%s: %s", function, text);
}
