/* reset.c - cf_device_reset(): resets a device's primary context, and forgets everything that was in it. */
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>

#include "base/error.h"
#include "base/log.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "cpu/driver_cpu.h"
#include "context/context.h"
#include "context/drivers.h"
#include "context/handle.h"
#include "context/lost.h"
#include "context/scope.h"
#include "stream/capture.h"
#include "memory/mempool.h"
#include "memory/peer.h"
#include "memory/scratch_reclaim.h"
#include "kernel/image.h"

/* ---- The context before the reset ---- */

/* The state of a reset. A context that only another library uses is retained during the call. */
struct reset {
    const struct cf__driver *driver;
    int device;
    CUdevice handle;
    CUcontext context; /* the context before the reset */
    int is_held;       /* 1 if the library still holds a reference after the reset */
    char running[sizeof((struct cf__context *)NULL)->kernels]; /* kernels that were in flight when the context was lost,
                                                                * or an empty text */
};

static int fail_reset(const struct reset *reset, CUresult result, const char *call)
{
    return cf__fail_driver(reset->driver, result, call, "cf_device_reset: device %d", reset->device);
}

/* Bit mask of GPUs that still fail after a reset; guarded by the lock of drivers. */
static uint64_t failing_devices;

/* Finds the context to reset. If an earlier reset failed, sets `exists` to 1 and the context to NULL. */
static int find_context(struct reset *reset, int *exists)
{
    const struct cf__driver *driver = reset->driver;
    unsigned int flags;
    int is_active = 0;
    reset->context = cf__primary_held(reset->device);
    reset->is_held = reset->context != NULL;
    *exists = reset->is_held || failing_devices >> reset->device & 1;
    if (*exists)
        return CF_OK;
    CUresult result = driver->cuDevicePrimaryCtxGetState(reset->handle, &flags, &is_active);
    if (result != CUDA_SUCCESS)
        return fail_reset(reset, result, "cuDevicePrimaryCtxGetState");
    *exists = is_active;
    if (!is_active)
        return CF_OK;
    result = driver->cuDevicePrimaryCtxRetain(&reset->context, reset->handle);
    return result == CUDA_SUCCESS ? CF_OK : fail_reset(reset, result, "cuDevicePrimaryCtxRetain");
}

/* Forgets kernels, buffers and handles of the context. The caller has looked up the record before the reset: after it,
 * a new context may have the same address. */
static void forget_contents(struct reset *reset, struct cf__context *record, unsigned long long id)
{
    if (record && record->is_lost)
        snprintf(reset->running, sizeof reset->running, "%s", record->kernels);
    cf__peers_forget(reset->device);
    cf__handles_reset(reset->context, reset->device);
    cf__captures_forget(reset->context);
    cf__deferred_free_forget(reset->context);
    if (record && record->is_lost)
        cf__reclaim_lose(id, reset->device);
    else
        cf__reclaim_forget(id);
    cf__images_drop(id);
    if (record)
        cf__context_drop(record);
}

/* ---- The context after the reset ---- */

/* Checks that the new context works, because some drivers report the old context's fault in it. Frees pool memory that
 * the old context left behind, before new allocations can get the same addresses. */
static int check_context(const struct reset *reset, CUcontext fresh)
{
    const struct cf__scope scope = {.driver = reset->driver, .context = fresh};
    CUcontext popped;
    CUresult result = reset->driver->cuCtxPushCurrent(fresh);
    if (result != CUDA_SUCCESS)
        return fail_reset(reset, result, "cuCtxPushCurrent");
    result = reset->driver->cuCtxSynchronize();
    if (cf__result_status(result) == CF_EFAULT && *reset->running)
        cf__context_mark_lost(reset->driver, fresh, reset->device, reset->running);
    int status = result == CUDA_SUCCESS ? CF_OK : fail_reset(reset, result, "cuCtxSynchronize");
    if (status == CF_OK) {
        int mode = cf__capture_relax(reset->driver);
        (void)cf__reclaim_orphans(&scope, reset->device);
        cf__capture_restore(reset->driver, mode);
    }
    (void)reset->driver->cuCtxPopCurrent(&popped);
    return status;
}

/* Releases a reference, or leaves that to cf_shutdown(). If the driver dropped all references at the reset, it reports
 * that the context is gone. */
static void release_context(const struct reset *reset)
{
    CUresult result = reset->driver->cuDevicePrimaryCtxRelease(reset->handle);
    if (result != CUDA_SUCCESS && !cf__result_is_gone(result))
        cf__primary_owe(reset->device);
}

/* Replaces the library's reference, which the reset did not release, by a reference to the new context. */
static int renew_context(const struct reset *reset)
{
    CUcontext fresh = NULL;
    if (reset->context)
        release_context(reset);
    CUresult result = reset->driver->cuDevicePrimaryCtxRetain(&fresh, reset->handle);
    if (reset->is_held)
        cf__primary_hold(reset->device, result == CUDA_SUCCESS ? fresh : NULL);
    if (result != CUDA_SUCCESS)
        return fail_reset(reset, result, "cuDevicePrimaryCtxRetain");
    int status = check_context(reset, fresh);
    if (!reset->is_held)
        release_context(reset);
    return status;
}

static int reset_gpu(struct reset *reset)
{
    const struct cf__driver *driver = reset->driver;
    unsigned long long id;
    int exists, status = find_context(reset, &exists);
    if (status != CF_OK || !exists)
        return status;
    if (!reset->context || driver->cuCtxGetId(reset->context, &id) != CUDA_SUCCESS)
        id = CF__NO_CONTEXT;
    /* Pools belong to the device and survive the reset. */
    status = cf__mempool_destroy(driver, reset->device);
    if (status != CF_OK) {
        if (reset->context && !reset->is_held)
            release_context(reset);
        return status;
    }
    struct cf__context *record = reset->context ? cf__context_by_handle(driver, reset->context) : NULL;
    CUresult result = driver->cuDevicePrimaryCtxReset(reset->handle);
    if (result == CUDA_SUCCESS) {
        if (reset->context)
            forget_contents(reset, record, id);
        status = renew_context(reset);
    } else {
        status = fail_reset(reset, result, "cuDevicePrimaryCtxReset");
        if (reset->context && !reset->is_held)
            release_context(reset);
    }
    uint64_t bit = (uint64_t)1 << reset->device;
    failing_devices = status == CF_EFAULT ? failing_devices | bit : failing_devices & ~bit;
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
        if (result == CUDA_SUCCESS)
            cf__captures_forget(&cf__cpu_context);
        status = result == CUDA_SUCCESS ? CF_OK : fail_reset(&reset, result, "cuDevicePrimaryCtxReset");
    } else {
        cf__drivers_lock();
        status = reset_gpu(&reset);
        cf__drivers_unlock();
    }
    if (status == CF_OK)
        cf__log(CF_LOG_INFO, "device %d was reset", device);
    return status;
}
