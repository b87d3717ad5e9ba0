/* enter.c - enters the device and context that a call runs on. */
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>

#include "context/enter.h"

#include "base/error.h"
#include "base/fast.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/drivers.h"
#include "context/handle.h"
#include "context/lost.h"

static _Thread_local int thread_device;
_Thread_local int cf__thread_has_device;

/* ---- Numbers and handles ---- */

int cf__handle_driver(const char *function, const char *name, enum cf__handle_kind kind, const void *handle,
                      const struct cf__driver **driver)
{
    int is_cpu = cf__cpu_owns(handle), status = CF_OK;
    if (!is_cpu) {
        char why[128];
        snprintf(why, sizeof why, "%s: %s %p is not of CF_HOST", function, name, handle);
        status = cf__ensure_cuda(why);
    }
    *driver = cf__backend_driver(is_cpu ? &cf__cpu : &cf__cuda);
    return status == CF_OK ? cf__handle_check(function, name, kind, handle) : status;
}

struct cf__thread_device cf__thread_device_set(struct cf__thread_device chosen)
{
    const struct cf__thread_device before = {cf__thread_has_device, thread_device};
    cf__thread_has_device = chosen.is_chosen;
    thread_device = chosen.device;
    return before;
}

/* ---- Contexts ---- */

static void review_contexts(void)
{
    if (cf__gpu_state() & CF__GPU_LOST)
        cf__contexts_review();
}

static int get_current_context(const struct cf__driver *driver, const char *function, CUcontext *context)
{
    CUresult result = driver->cuCtxGetCurrent(context);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(driver, result, "cuCtxGetCurrent", "%s", function);
}

static int push_context(struct cf__scope *scope, const char *function)
{
    CUresult result = scope->driver->cuCtxPushCurrent(scope->context);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuCtxPushCurrent", "%s", function);
    scope->is_pushed = 1;
    return CF_OK;
}

static int make_current(struct cf__scope *scope, const char *function)
{
    CUcontext current = NULL;
    int status = get_current_context(scope->driver, function, &current);
    scope->is_pushed = 0;
    return status != CF_OK || current == scope->context ? status : push_context(scope, function);
}

static int enter_device(struct cf__scope *scope, const char *function, struct cf__backend *backend, int ordinal)
{
    scope->driver = cf__backend_driver(backend);
    int status = cf__primary_context(function, backend, ordinal, &scope->context);
    return status == CF_OK ? make_current(scope, function) : status;
}

int cf__enter_device(struct cf__scope *scope, const char *function, int device)
{
    struct cf__backend *backend;
    review_contexts();
    int ordinal, status = cf__device_backend(function, device, &backend, &ordinal);
    return status == CF_OK ? enter_device(scope, function, backend, ordinal) : status;
}

int cf__push_default(struct cf__scope *scope, const char *function)
{
    int status = cf__primary_context(function, &cf__cuda, 0, &scope->context);
    return status == CF_OK ? push_context(scope, function) : status;
}

static int enter_thread_device(struct cf__scope *scope, const char *function)
{
    struct cf__backend *backend;
    int ordinal = 0, status;
    if (cf__thread_has_device) {
        status = cf__device_backend(function, thread_device, &backend, &ordinal);
        return status == CF_OK ? enter_device(scope, function, backend, ordinal) : status;
    }
    status = cf__default_backend(function, &backend);
    if (status != CF_OK)
        return status;
    scope->driver = cf__backend_driver(backend);
    scope->is_pushed = 0;
    if (backend != &cf__cuda)
        return enter_device(scope, function, backend, 0);
    status = get_current_context(scope->driver, function, &scope->context);
    return status != CF_OK || scope->context ? status : cf__push_default(scope, function);
}

static int leave_if_lost(struct cf__scope *scope, const char *function)
{
    if (!(cf__gpu_state() & CF__GPU_LOST))
        return CF_OK;
    int status = cf__check_lost(scope, function);
    if (status != CF_OK)
        cf__leave(scope);
    return status;
}

/* Returns the thread's current context unless that is lost, else a retained context that is not lost, else NULL. */
static CUcontext find_working_context(const struct cf__driver *driver, CUcontext current)
{
    CUcontext context = current && !cf__is_lost(driver, current) ? current : NULL;
    for (int device = 0; device < CF__MAX_DEVICES && !context; device++) {
        CUcontext held = cf__primary_held(device);
        if (held && !cf__is_lost(driver, held))
            context = held;
    }
    return context;
}

/* Returns a device whose primary context is active but not retained by the library, or -1. */
static int find_active_device(const struct cf__driver *driver)
{
    int devices = 0;
    (void)driver->cuDeviceGetCount(&devices);
    for (int device = 0; device < devices && device < CF__MAX_DEVICES; device++) {
        CUdevice handle;
        unsigned int flags;
        int is_active = 0;
        if (!cf__primary_held(device) && driver->cuDeviceGet(&handle, device) == CUDA_SUCCESS &&
            driver->cuDevicePrimaryCtxGetState(handle, &flags, &is_active) == CUDA_SUCCESS && is_active)
            return device;
    }
    return -1;
}

/* Enters the context of a GPU handle. If the handle has no record, enters any working context, and the driver validates
 * the handle. */
static int enter_context_of(struct cf__scope *scope, const char *function, const struct cf__driver *driver,
                            enum cf__handle_kind kind, const void *handle)
{
    CUcontext current = NULL, context = cf__handle_context(kind, handle);
    if (!context) {
        if (driver->cuCtxGetCurrent(&current) != CUDA_SUCCESS)
            current = NULL;
        context = find_working_context(driver, current);
    }
    if (context)
        return cf__enter_context(scope, function, driver, context);
    *scope = (struct cf__scope){.driver = driver, .context = current};
    if (current)
        return CF_OK;
    int active = find_active_device(driver);
    return active < 0 ? cf__enter(scope, function, NULL) : cf__enter_device(scope, function, active);
}

int cf__enter_even_lost(struct cf__scope *scope, const char *function, cf_stream stream)
{
    review_contexts();
    /* The default streams belong to no single context. */
    if ((uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD)
        return enter_thread_device(scope, function);
    scope->driver = cf__backend_driver(&cf__cuda);
    if (!scope->driver || cf__gpu_state() != CF__GPU_OURS || cf__cpu_owns(stream)) {
        int status = cf__handle_driver(function, "stream", CF__STREAM, stream, &scope->driver);
        if (status != CF_OK)
            return status;
    }
    CUresult result = scope->driver->cuStreamGetCtx(stream, &scope->context);
    /* The driver does not report the context of a stream while the stream's capture is invalidated. */
    if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        return enter_context_of(scope, function, scope->driver, CF__STREAM, stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamGetCtx", "%s: stream %p", function, (void *)stream);
    return make_current(scope, function);
}

CF__HOT int cf__enter(struct cf__scope *scope, const char *function, cf_stream stream)
{
    int status = cf__enter_even_lost(scope, function, stream);
    return status == CF_OK ? leave_if_lost(scope, function) : status;
}

int cf__enter_context(struct cf__scope *scope, const char *function, const struct cf__driver *driver, CUcontext context)
{
    *scope = (struct cf__scope){.driver = driver, .context = context};
    review_contexts();
    int status = leave_if_lost(scope, function);
    return status == CF_OK ? make_current(scope, function) : status;
}

int cf__enter_current_or_primary(struct cf__scope *scope, const char *function, int device)
{
    int current, status;
    *scope = (struct cf__scope){.driver = cf__backend_driver(&cf__cuda)};
    if (cf__thread_has_device || device == CF_HOST || !scope->driver)
        return cf__enter_device(scope, function, device);
    status = get_current_context(scope->driver, function, &scope->context);
    if (status == CF_OK && scope->context && !cf__is_lost(scope->driver, scope->context)) {
        status = cf__scope_device(scope, function, &current);
        if (status == CF_OK && current == device)
            return CF_OK;
    }
    return status == CF_OK ? cf__enter_device(scope, function, device) : status;
}

int cf__enter_handle(struct cf__scope *scope, const char *function, const char *name, enum cf__handle_kind kind,
                     const void *handle)
{
    const struct cf__driver *driver;
    int status = cf__handle_driver(function, name, kind, handle, &driver);
    if (status != CF_OK)
        return status;
    return driver->is_cpu ? enter_device(scope, function, &cf__cpu, 0)
                          : enter_context_of(scope, function, driver, kind, handle);
}

CF__HOT void cf__leave(struct cf__scope *scope)
{
    CUcontext context;
    if (scope->is_pushed)
        (void)scope->driver->cuCtxPopCurrent(&context); /* cuCtxPopCurrent() fails only in a lost context */
    scope->is_pushed = 0;
}

int cf__scope_device(const struct cf__scope *scope, const char *function, int *device)
{
    if (scope->driver->is_cpu) {
        *device = CF_HOST;
        return CF_OK;
    }
    /* Comparing retained contexts needs no driver call. */
    for (*device = 0; *device < cf__cuda.count; ++*device)
        if (cf__primary_held(*device) == scope->context)
            return CF_OK;
    CUresult result = scope->driver->cuCtxGetDevice(device);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(scope->driver, result, "cuCtxGetDevice", "%s", function);
}

int cf__scope_context(const struct cf__scope *scope, const char *function, struct cf__context **context)
{
    unsigned long long id;
    int device;
    CUresult result = scope->driver->cuCtxGetId(scope->context, &id);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuCtxGetId", "%s", function);
    if ((*context = cf__context_by_id(id)) != NULL)
        return CF_OK;
    int status = cf__scope_device(scope, function, &device);
    if (status != CF_OK)
        return status;
    cf__contexts_lock();
    *context = cf__context_by_id(id);
    if (!*context)
        *context = cf__context_add(scope->driver, scope->context, id, device);
    cf__contexts_unlock();
    return *context ? CF_OK : cf__fail(CF_ENOMEM, "%s: no memory for what is kept of a context", function);
}
