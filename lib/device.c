/* device.c - which device and context a call runs on. */
#include <inttypes.h>
#include <stdio.h>

#include "backend.h"

static _Thread_local int thread_device;
_Thread_local int cf__has_device;

/* ---- Numbers and handles ---- */

int cf__handle_driver(const char *function, const char *name, enum cf__kind kind, const void *handle,
                      const struct cf__driver **driver)
{
    int is_host = cf__host_owns(handle), status = CF_OK;
    if (!is_host) {
        char why[128];
        snprintf(why, sizeof why, "%s: %s %p is not of CF_HOST", function, name, handle);
        status = cf__ensure_cuda(why);
    }
    *driver = cf__in_use(is_host ? &cf__host : &cf__cuda);
    return status == CF_OK ? cf__handle_check(function, name, kind, handle) : status;
}

/* The backend and ordinal of a device number, for `function`. */
static int device_backend(const char *function, int device, struct cf__backend **backend, int *ordinal)
{
    if (device == CF_HOST) {
        *backend = &cf__host;
        *ordinal = 0;
        return cf__ensure_host(function);
    }
    if (device < 0)
        return cf__fail(CF_ENODEV, "%s: device %d: GPUs count from 0, and the CPU is CF_HOST, %d", function, device,
                        CF_HOST);
    if (!cf__in_use(&cf__cuda) || cf__is_forked()) {
        char why[64];
        snprintf(why, sizeof why, "%s: device %d", function, device);
        int status = cf__ensure_cuda(why);
        if (status != CF_OK)
            return status;
    }
    if (device >= cf__cuda.count)
        return cf__fail(CF_ENODEV, "%s: device %d: there are %d GPUs, from 0, and CF_HOST", function, device,
                        cf__cuda.count);
    *backend = &cf__cuda;
    *ordinal = device;
    return CF_OK;
}

int cf__device(const char *function, int device, const struct cf__driver **driver, CUdevice *handle)
{
    struct cf__backend *backend;
    int ordinal, status = device_backend(function, device, &backend, &ordinal);
    if (status != CF_OK)
        return status;
    *driver = cf__in_use(backend);
    CUresult result = (*driver)->cuDeviceGet(handle, ordinal);
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(*driver, result, "cuDeviceGet", "%s: device %d", function, device);
}

struct cf__chosen cf__device_choose(struct cf__chosen chosen)
{
    const struct cf__chosen before = {cf__has_device, thread_device};
    cf__has_device = chosen.is_chosen;
    thread_device = chosen.device;
    return before;
}

/* ---- Contexts ---- */

static void review(void)
{
    if (cf__gpu_state() & CF__GPU_LOST)
        cf__contexts_review();
}

/* The thread's own, where it has one. */
static int get_current(const struct cf__driver *driver, const char *function, CUcontext *context)
{
    CUresult result = driver->cuCtxGetCurrent(context);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(driver, result, "cuCtxGetCurrent", "%s", function);
}

static int push(struct cf__place *place, const char *function)
{
    CUresult result = place->driver->cuCtxPushCurrent(place->context);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuCtxPushCurrent", "%s", function);
    place->pushed = 1;
    return CF_OK;
}

static int make_current(struct cf__place *place, const char *function)
{
    CUcontext current = NULL;
    int status = get_current(place->driver, function, &current);
    place->pushed = 0;
    return status != CF_OK || current == place->context ? status : push(place, function);
}

static int enter_device(struct cf__place *place, const char *function, struct cf__backend *backend, int ordinal)
{
    place->driver = cf__in_use(backend);
    int status = cf__primary_context(function, backend, ordinal, &place->context);
    return status == CF_OK ? make_current(place, function) : status;
}

int cf__enter_device(struct cf__place *place, const char *function, int device)
{
    struct cf__backend *backend;
    review();
    int ordinal, status = device_backend(function, device, &backend, &ordinal);
    return status == CF_OK ? enter_device(place, function, backend, ordinal) : status;
}

int cf__enter_lent(struct cf__place *place, const char *function)
{
    int status = cf__primary_context(function, &cf__cuda, 0, &place->context);
    return status == CF_OK ? push(place, function) : status;
}

static int enter_thread_device(struct cf__place *place, const char *function)
{
    struct cf__backend *backend;
    int ordinal = 0, status;
    if (cf__has_device) {
        status = device_backend(function, thread_device, &backend, &ordinal);
        return status == CF_OK ? enter_device(place, function, backend, ordinal) : status;
    }
    status = cf__default_backend(function, &backend);
    if (status != CF_OK)
        return status;
    place->driver = cf__in_use(backend);
    place->pushed = 0;
    if (backend != &cf__cuda)
        return enter_device(place, function, backend, 0);
    status = get_current(place->driver, function, &place->context);
    return status != CF_OK || place->context ? status : cf__enter_lent(place, function);
}

/* Leaves the place again where its context is lost. */
static int check_lost(struct cf__place *place, const char *function)
{
    if (!(cf__gpu_state() & CF__GPU_LOST))
        return CF_OK;
    int status = cf__check_lost(place, function);
    if (status != CF_OK)
        cf__leave(place);
    return status;
}

static int enter(struct cf__place *place, const char *function, cf_stream stream)
{
    review();
    /* The default streams have no context of their own. */
    if ((uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD)
        return enter_thread_device(place, function);
    place->driver = cf__in_use(&cf__cuda);
    if (!place->driver || cf__gpu_state() != CF__GPU_OURS || cf__host_owns(stream)) {
        int status = cf__handle_driver(function, "stream", CF__STREAM, stream, &place->driver);
        if (status != CF_OK)
            return status;
    }
    CUresult result = place->driver->cuStreamGetCtx(stream, &place->context);
    /* Of a stream whose capture is broken the driver tells nothing until that has ended. */
    if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        return cf__handle_enter(place, function, place->driver, CF__STREAM, stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuStreamGetCtx", "%s: stream %p", function, (void *)stream);
    return make_current(place, function);
}

CF__HOT int cf__enter(struct cf__place *place, const char *function, cf_stream stream)
{
    int status = enter(place, function, stream);
    return status == CF_OK ? check_lost(place, function) : status;
}

int cf__enter_context(struct cf__place *place, const char *function, const struct cf__driver *driver, CUcontext context)
{
    *place = (struct cf__place){.driver = driver, .context = context};
    review();
    int status = check_lost(place, function);
    return status == CF_OK ? make_current(place, function) : status;
}

int cf__enter_near(struct cf__place *place, const char *function, int device)
{
    int current, status;
    *place = (struct cf__place){.driver = cf__in_use(&cf__cuda)};
    if (cf__has_device || device == CF_HOST || !place->driver)
        return cf__enter_device(place, function, device);
    status = get_current(place->driver, function, &place->context);
    if (status == CF_OK && place->context && !cf__is_lost(place->driver, place->context)) {
        status = cf__place_device(place, function, &current);
        if (status == CF_OK && current == device)
            return CF_OK;
    }
    return status == CF_OK ? cf__enter_device(place, function, device) : status;
}

int cf__enter_handle(struct cf__place *place, const char *function, const char *name, enum cf__kind kind,
                     const void *handle)
{
    const struct cf__driver *driver;
    int status = cf__handle_driver(function, name, kind, handle, &driver);
    if (status != CF_OK)
        return status;
    return driver->is_host ? enter_device(place, function, &cf__host, 0)
                           : cf__handle_enter(place, function, driver, kind, handle);
}

CF__HOT void cf__leave(struct cf__place *place)
{
    CUcontext context;
    if (place->pushed)
        (void)place->driver->cuCtxPopCurrent(&context); /* fails only in a context that is lost already */
    place->pushed = 0;
}

int cf__place_device(const struct cf__place *place, const char *function, int *device)
{
    if (place->driver->is_host) {
        *device = CF_HOST;
        return CF_OK;
    }
    /* One that is held stays where it is. */
    for (*device = 0; *device < cf__cuda.count; ++*device)
        if (cf__primary_held(*device) == place->context)
            return CF_OK;
    CUresult result = place->driver->cuCtxGetDevice(device);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(place->driver, result, "cuCtxGetDevice", "%s", function);
}

/* ---- The public functions ---- */

int cf_device_count(int *count)
{
    if (!count)
        return cf__fail(CF_EINVAL, "cf_device_count: count is NULL");
    struct cf__backend *backend;
    int status = cf__default_backend("cf_device_count", &backend);
    if (status == CF_OK)
        *count = backend == &cf__cuda ? cf__cuda.count : 0;
    return status;
}

int cf_device_use(int device)
{
    struct cf__backend *backend;
    int ordinal, status = device_backend("cf_device_use", device, &backend, &ordinal);
    if (status == CF_OK) {
        thread_device = device;
        cf__has_device = 1;
    }
    return status;
}

int cf_device_current(int *device)
{
    if (!device)
        return cf__fail(CF_EINVAL, "cf_device_current: device is NULL");
    struct cf__place place;
    int status = enter(&place, "cf_device_current", NULL); /* also where that context is lost */
    if (status != CF_OK)
        return status;
    status = cf__place_device(&place, "cf_device_current", device);
    cf__leave(&place);
    return status;
}

int cf_device_name(int device, char *name, size_t size)
{
    if (!name || size == 0)
        return cf__fail(CF_EINVAL, "cf_device_name: %s", name ? "size is 0" : "name is NULL");
    const struct cf__driver *driver;
    CUdevice handle;
    int status = cf__device("cf_device_name", device, &driver, &handle);
    if (status != CF_OK)
        return status;
    CUresult result = driver->cuDeviceGetName(name, size > INT32_MAX ? INT32_MAX : (int)size, handle);
    return result == CUDA_SUCCESS
               ? CF_OK
               : cf__fail_driver(driver, result, "cuDeviceGetName", "cf_device_name: device %d", device);
}

int cf_device_sync(void)
{
    struct cf__place place;
    CUresult result;
    int status = cf__enter(&place, "cf_device_sync", NULL);
    if (status != CF_OK)
        return status;
    int mode = cf__relax(place.driver);
    status = cf__wait_for_device("cf_device_sync", &place, &result);
    cf__unrelax(place.driver, mode);
    if (status == CF_OK && result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuCtxSynchronize", "cf_device_sync");
    cf__leave(&place);
    return status;
}

int cf_require(int requirement)
{
    if (requirement != CF_CUDA)
        return cf__fail(CF_EINVAL, "cf_require: %d is no requirement; CF_CUDA is", requirement);
    return cf__ensure_cuda("cf_require(CF_CUDA)");
}
