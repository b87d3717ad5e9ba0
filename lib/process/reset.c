/* reset.c - takes a device's primary context away with all that is in it, and what the library knew of that. */
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>

#include "base/error.h"
#include "base/log.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "context/context.h"
#include "context/drivers.h"
#include "context/handle.h"
#include "context/lost.h"
#include "stream/capture.h"
#include "memory/mempool.h"
#include "memory/orphan.h"
#include "memory/peer.h"
#include "memory/scratch_reclaim.h"
#include "kernel/image.h"

/* ---- What the library has there ---- */

/* Where another library keeps the context alive and this one has not used it, it is taken for the time of the call. */
struct reset {
    const struct cf__driver *driver;
    int device;
    CUdevice handle;
    CUcontext context;                                         /* before the reset */
    int is_held;                                               /* by the library, also after */
    char running[sizeof((struct cf__context *)NULL)->kernels]; /* when it was lost; else empty */
};

static int failure(const struct reset *reset, CUresult result, const char *call)
{
    return cf__fail_driver(reset->driver, result, call, "cf_device_reset: device %d", reset->device);
}

/* GPUs that a reset did not help, a bit for each; under the lock. */
static uint64_t failing;

/* Whether there is something to reset: `context` may be NULL then, after a reset that did not help. */
static int begin(struct reset *reset, int *is_there)
{
    const struct cf__driver *driver = reset->driver;
    unsigned int flags;
    int is_active = 0;
    reset->context = cf__primary_held(reset->device);
    reset->is_held = reset->context != NULL;
    *is_there = reset->is_held || failing >> reset->device & 1;
    if (*is_there)
        return CF_OK;
    CUresult result = driver->cuDevicePrimaryCtxGetState(reset->handle, &flags, &is_active);
    if (result != CUDA_SUCCESS)
        return failure(reset, result, "cuDevicePrimaryCtxGetState");
    *is_there = is_active;
    if (!is_active)
        return CF_OK;
    result = driver->cuDevicePrimaryCtxRetain(&reset->context, reset->handle);
    return result == CUDA_SUCCESS ? CF_OK : failure(reset, result, "cuDevicePrimaryCtxRetain");
}

/* The context is gone: so are its kernels, buffers and handles. The record is that from before: the next context may have
 * the same address already. */
static void forget(struct reset *reset, struct cf__context *record, unsigned long long id)
{
    if (record && record->is_lost)
        snprintf(reset->running, sizeof reset->running, "%s", record->kernels);
    cf__peers_forget(reset->device);
    cf__handles_reset(reset->context, reset->device);
    cf__captures_forget(reset->context);
    cf__deferred_free_forget(reset->context);
    if (record && record->is_lost)
        cf__scratch_cache_lose(id, reset->device);
    else
        cf__scratch_cache_forget(id);
    cf__images_drop(id);
    if (record)
        cf__context_drop(record);
}

/* ---- What comes after ---- */

/* Whether the new context works; a driver may have it fail with the fault of the one before. What that one has left is
 * freed here, before anybody can have memory at these addresses. */
static int try_out(const struct reset *reset, CUcontext fresh)
{
    CUcontext popped;
    CUresult result = reset->driver->cuCtxPushCurrent(fresh);
    if (result != CUDA_SUCCESS)
        return failure(reset, result, "cuCtxPushCurrent");
    result = reset->driver->cuCtxSynchronize();
    if (cf__status_of(result) == CF_EFAULT)
        cf__context_mark_lost(reset->driver, fresh, reset->device, *reset->running ? reset->running : NULL);
    int status = result == CUDA_SUCCESS ? CF_OK : failure(reset, result, "cuCtxSynchronize");
    if (status == CF_OK) {
        int mode = cf__relax(reset->driver);
        (void)cf__orphans_free(reset->driver);
        cf__unrelax(reset->driver, mode);
    }
    (void)reset->driver->cuCtxPopCurrent(&popped);
    return status;
}

/* Gives back a reference, or owes it until cf_shutdown(). A driver that has forgotten them all says so. */
static void release(const struct reset *reset)
{
    CUresult result = reset->driver->cuDevicePrimaryCtxRelease(reset->handle);
    if (result != CUDA_SUCCESS && !cf__is_gone(result))
        cf__primary_owe(reset->device);
}

/* A reset leaves the references to the context as they were: the one from before goes for a new one. */
static int renew(const struct reset *reset)
{
    CUcontext fresh = NULL;
    if (reset->context)
        release(reset);
    CUresult result = reset->driver->cuDevicePrimaryCtxRetain(&fresh, reset->handle);
    if (reset->is_held)
        cf__primary_hold(reset->device, result == CUDA_SUCCESS ? fresh : NULL);
    if (result != CUDA_SUCCESS)
        return failure(reset, result, "cuDevicePrimaryCtxRetain");
    int status = try_out(reset, fresh);
    if (!reset->is_held)
        release(reset);
    return status;
}

static int reset_gpu(struct reset *reset)
{
    const struct cf__driver *driver = reset->driver;
    unsigned long long id;
    int is_there, status = begin(reset, &is_there);
    if (status != CF_OK || !is_there)
        return status;
    if (!reset->context || driver->cuCtxGetId(reset->context, &id) != CUDA_SUCCESS)
        id = CF__NO_CONTEXT;
    /* Pools are the device's and not the context's. */
    status = cf__mempool_destroy(driver, reset->device);
    if (status != CF_OK) {
        if (reset->context && !reset->is_held)
            release(reset);
        return status;
    }
    struct cf__context *record = reset->context ? cf__context_by_handle(driver, reset->context) : NULL;
    CUresult result = driver->cuDevicePrimaryCtxReset(reset->handle);
    if (result == CUDA_SUCCESS) {
        if (reset->context)
            forget(reset, record, id);
        status = renew(reset);
    } else {
        status = failure(reset, result, "cuDevicePrimaryCtxReset");
        if (reset->context && !reset->is_held)
            release(reset);
    }
    uint64_t bit = (uint64_t)1 << reset->device;
    failing = status == CF_EFAULT ? failing | bit : failing & ~bit;
    return status;
}

int cf_device_reset(int device)
{
    struct reset reset = {.device = device};
    int status = cf__device_get("cf_device_reset", device, &reset.driver, &reset.handle);
    if (status != CF_OK)
        return status;
    if (cf__log_is_inside())
        return cf__fail(CF_EINVAL, "cf_device_reset: called from the callback of cf_set_log()");
    if (device == CF_HOST) {
        CUresult result = reset.driver->cuDevicePrimaryCtxReset(reset.handle);
        CUcontext context;
        if (result == CUDA_SUCCESS && reset.driver->cuDevicePrimaryCtxRetain(&context, reset.handle) == CUDA_SUCCESS) {
            cf__captures_forget(context);
            (void)reset.driver->cuDevicePrimaryCtxRelease(reset.handle);
        }
        status = result == CUDA_SUCCESS ? CF_OK : failure(&reset, result, "cuDevicePrimaryCtxReset");
    } else {
        cf__drivers_lock();
        status = reset_gpu(&reset);
        cf__drivers_unlock();
    }
    if (status == CF_OK)
        cf__log(CF_LOG_INFO, "device %d was reset", device);
    return status;
}
