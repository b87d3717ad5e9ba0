/* lost.c - detects contexts that a kernel's fault has destroyed, and reports failures of the driver, which reveal
 * them. */
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

/* Returns an id for a context whose id the driver does not report any more. The id is too large for a driver's own. */
static unsigned long long make_up_id(void)
{
    static unsigned long long made;
    return CF__NO_CONTEXT - 1 - __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
}

static int is_made_up(unsigned long long id)
{
    return id > CF__NO_CONTEXT / 2;
}

/* A context that may be lost. */
struct candidate {
    CUcontext handle;
    unsigned long long id;
    int device; /* device number, or -1 if unknown */
};

static struct candidate identify(const struct cf__driver *driver, CUcontext handle, int device)
{
    const struct cf__context *record = cf__context_by_handle(driver, handle);
    struct candidate candidate = {handle, record ? cf__context_id(record) : CF__NO_CONTEXT, device};
    if (candidate.id == CF__NO_CONTEXT && driver->cuCtxGetId(handle, &candidate.id) != CUDA_SUCCESS)
        candidate.id = make_up_id();
    return candidate;
}

/* Marks a context as lost; returns 1 if it was not marked before. The caller holds the lock. */
static int mark(const struct cf__driver *driver, const struct candidate *candidate, const char *kernels)
{
    struct cf__context *context = cf__context_by_id(candidate->id);
    if (!context)
        context = cf__context_add(driver, candidate->handle, candidate->id, candidate->device);
    if (!context || context->is_lost)
        return 0;
    snprintf(context->kernels, sizeof context->kernels, "%s", kernels);
    __atomic_store_n(&context->is_lost, 1, __ATOMIC_RELEASE);
    cf__gpu_mark(CF__GPU_LOST, 1);
    return 1;
}

static void log_loss(int device, const char *kernels)
{
    cf__log(CF_LOG_INFO, "the context of device %d was lost to a fault while %s running", device, kernels);
}

void cf__context_mark_lost(const struct cf__driver *driver, CUcontext handle, int device, const char *kernels)
{
    const struct candidate candidate = identify(driver, handle, device);
    cf__contexts_lock();
    int is_new = mark(driver, &candidate, kernels);
    cf__contexts_unlock();
    if (is_new)
        log_loss(device, kernels);
}

/* Returns 1 if a lost context was destroyed or reset. Sets `*is_destroyed` if it was destroyed and no new context has
 * its address. */
static int is_context_gone(const struct cf__context *context, unsigned long long id, int *is_destroyed)
{
    unsigned long long now;
    CUresult result = context->driver->cuCtxGetId(context->handle, &now);
    *is_destroyed = result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return *is_destroyed || (result == CUDA_SUCCESS && now != id && !is_made_up(id));
}

/* Marks the context's handles as stale before the device is used again and creates new ones. After a reset, the record
 * stays in use with its id. */
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

enum { MAX_CANDIDATES = 2 * CF__MAX_DEVICES };

/* Adds a context to the list, unless it is marked as lost or in the list already; returns the new count. */
static int add_candidate(const struct cf__driver *driver, struct candidate *list, int count, CUcontext handle,
                         int device)
{
    for (int i = 0; i < count; i++)
        if (list[i].handle == handle)
            return count;
    if (count < MAX_CANDIDATES && !find_lost(driver, handle))
        list[count++] = identify(driver, handle, device);
    return count;
}

/* Adds those contexts in which the library was used and which still exist. */
static int add_used(const struct cf__driver *driver, struct candidate *list, int count)
{
    struct candidate used[CF__MAX_DEVICES];
    unsigned long long id;
    int found = 0;
    cf__contexts_lock();
    const struct cf__context *context = NULL;
    while (found < CF__MAX_DEVICES && (context = cf__context_next(context)) != NULL)
        if (context->driver == driver && !context->is_lost)
            used[found++] = (struct candidate){context->handle, context->id, context->device};
    cf__contexts_unlock();
    while (found-- > 0)
        if (driver->cuCtxGetId(used[found].handle, &id) == CUDA_SUCCESS && id == used[found].id)
            count = add_candidate(driver, list, count, used[found].handle, used[found].device);
    return count;
}

/* Moves the failing contexts to the front of the list and returns their number. Sets `*works` if any other context
 * works. */
static int keep_failing(const struct cf__driver *driver, struct candidate *list, int count, int *works)
{
    CUcontext popped;
    int failing = 0;
    *works = 0;
    for (int i = 0; i < count; i++) {
        struct candidate candidate = list[i];
        if (driver->cuCtxPushCurrent(candidate.handle) != CUDA_SUCCESS)
            continue;
        if (cf__result_status(driver->cuStreamQuery(NULL)) != CF_EFAULT) {
            *works = 1;
        } else {
            if (candidate.device < 0 && driver->cuCtxGetDevice(&candidate.device) != CUDA_SUCCESS)
                candidate.device = -1;
            list[failing++] = candidate;
        }
        (void)driver->cuCtxPopCurrent(&popped);
    }
    return failing;
}

/* Marks all failing contexts with the same text, because the driver does not tell in which of them the fault was. If no
 * context works, the fault may also have been in one that was marked before. */
static void mark_failing(const struct cf__driver *driver, struct candidate *list, int count, int works)
{
    unsigned long long ids[MAX_CANDIDATES];
    char kernels[sizeof((struct cf__context *)NULL)->kernels];
    int are_new[MAX_CANDIDATES], listed = 0;
    for (int i = 0; i < count; i++)
        ids[listed++] = list[i].id;
    cf__contexts_lock();
    for (const struct cf__context *context = cf__context_next(NULL); context && !works && listed < MAX_CANDIDATES;
         context = cf__context_next(context))
        if (context->driver == driver && context->is_lost)
            ids[listed++] = context->id;
    cf__inflight_text(ids, listed, kernels, sizeof kernels);
    for (int i = 0; i < count; i++)
        are_new[i] = mark(driver, &list[i], kernels);
    cf__contexts_unlock();
    for (int i = 0; i < count; i++)
        if (are_new[i])
            log_loss(list[i].device, kernels);
}

/* Returns a context that was not marked as lost before, or NULL. The failed call may concern a context that is not
 * current, for example that of an event, so all retained and used contexts are probed. */
static const struct cf__context *find_newly_lost(const struct cf__driver *driver, CUcontext current)
{
    struct candidate list[MAX_CANDIDATES];
    int count = 0, works, mode = cf__capture_relax(driver); /* threads may be capturing */
    if (current)
        count = add_candidate(driver, list, count, current, -1);
    for (int device = 0; device < CF__MAX_DEVICES; device++) {
        CUcontext primary = cf__primary_held(device);
        if (primary)
            count = add_candidate(driver, list, count, primary, device);
    }
    count = keep_failing(driver, list, add_used(driver, list, count), &works);
    cf__capture_restore(driver, mode);
    if (!count)
        return NULL;
    mark_failing(driver, list, count, works);
    return find_lost(driver, list[0].handle);
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

/* Describes the loss for a call in another context, or in none. The text advises a reset only if a single context is
 * lost and no record of a lost one was dropped by a reset, because the fault may have been in any of them. */
static void describe_losses(const struct cf__driver *driver, char *text, size_t size)
{
    const struct cf__context *last = NULL;
    int count = 0, are_same = 1;
    cf__contexts_lock();
    for (const struct cf__context *context = cf__context_next(NULL); context; context = cf__context_next(context))
        if (context->driver == driver && context->is_lost) {
            are_same &= !last || strcmp(last->kernels, context->kernels) == 0;
            last = context;
            count++;
        }
    if (count == 1 && !cf__contexts_have_dropped_lost())
        describe_loss(last, text, size);
    else if (count && are_same)
        snprintf(text, size, "a context of this process was lost to a fault while %s running", last->kernels);
    else
        snprintf(text, size, "a context of this process was lost to a fault");
    cf__contexts_unlock();
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
    if (!context)
        context = now;
    size_t used = strlen(text);
    if ((context || status == CF_EFAULT) && used + 2 < size) {
        memcpy(text + used, "; ", 3);
        if (context)
            describe_loss(context, text + used + 2, size - used - 2);
        else
            describe_losses(driver, text + used + 2, size - used - 2);
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

/* The driver does not tell which of the two handles is invalid, so query it about the stream alone. */
int cf__fail_handle(const struct cf__driver *driver, CUresult result, const char *call, const char *function,
                    const char *name, const void *handle, cf_stream stream)
{
    CUstreamCaptureStatus status;
    /* The CPU driver also returns INVALID_VALUE for unknown handles. */
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
