/* peer.c - lets GPUs access each other's memory. */
#include <pthread.h>
#include <stdint.h>

#include <cuferry.h>

#include "memory/peer.h"

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/lost.h"
#include "memory/mempool.h"

/* The lock serializes enabling and disabling. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void cf__peer_lock(void)
{
    cf__lock(&lock);
}

void cf__peer_unlock(void)
{
    cf__unlock(&lock);
}

/* Bit masks with a bit for each GPU, indexed by the peer that the GPU accesses; atomic. `ours` excludes access that
 * another library enabled, because that is never disabled here. */
static uint64_t reaches[CF__MAX_DEVICES]; /* GPUs that cf_peer_enable() lets access the peer */
static uint64_t ours[CF__MAX_DEVICES];    /* GPUs whose access this library enabled */

int cf__peer_enabled(int device, int peer)
{
    return device == peer || (device >= 0 && device < CF__MAX_DEVICES && (cf__peer_mask(peer) >> device & 1));
}

uint64_t cf__peer_mask(int peer)
{
    return peer >= 0 && peer < CF__MAX_DEVICES ? __atomic_load_n(&reaches[peer], __ATOMIC_SEQ_CST) : 0;
}

static void note_peer(int device, int peer, int is_ours)
{
    uint64_t bit = (uint64_t)1 << device;
    if (is_ours)
        __atomic_fetch_or(&ours[peer], bit, __ATOMIC_SEQ_CST);
    __atomic_fetch_or(&reaches[peer], bit, __ATOMIC_SEQ_CST);
}

/* Forgets the access; returns 1 if this library had enabled it. */
static int forget_peer(int device, int peer)
{
    uint64_t bit = (uint64_t)1 << device;
    __atomic_fetch_and(&reaches[peer], ~bit, __ATOMIC_SEQ_CST);
    return (__atomic_fetch_and(&ours[peer], ~bit, __ATOMIC_SEQ_CST) & bit) != 0;
}

void cf__peers_forget(int device)
{
    for (int other = 0; other < CF__MAX_DEVICES; other++) {
        (void)forget_peer(device, other);
        (void)forget_peer(other, device);
    }
}

/* Stores whether `device` can access the memory of `peer`. A device can access itself; the CPU and a GPU cannot access
 * each other. */
static int query_possible(const char *function, int device, int peer, int *answer)
{
    const struct cf__driver *driver, *of_peer;
    CUdevice handle, other;
    int status = cf__device_get(function, device, &driver, &handle);
    if (status == CF_OK)
        status = cf__device_get(function, peer, &of_peer, &other);
    if (status != CF_OK)
        return status;
    *answer = device == peer;
    if (device == peer || driver->is_cpu || of_peer->is_cpu)
        return CF_OK;
    CUresult result = driver->cuDeviceCanAccessPeer(answer, handle, other);
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(driver, result, "cuDeviceCanAccessPeer", "%s: devices %d and %d",
                                                    function, device, peer);
}

/* Enters the primary context of `device`; stores the primary context of `peer` in `context`. */
static int enter_pair(struct cf__scope *scope, const char *function, int device, int peer, CUcontext *context)
{
    int status = cf__enter_device(scope, function, peer);
    if (status != CF_OK)
        return status;
    *context = scope->context;
    cf__leave(scope);
    return cf__enter_device(scope, function, device);
}

int cf_peer_possible(int device, int peer, int *answer)
{
    if (!answer)
        return cf__fail(CF_EINVAL, "cf_peer_possible: possible is NULL");
    int is_possible, status = query_possible("cf_peer_possible", device, peer, &is_possible);
    if (status == CF_OK)
        *answer = is_possible != 0;
    return status;
}

/* Calls the driver even if the access was enabled before, because another library may have disabled it. The caller
 * holds the lock. */
static int enable_in(const struct cf__scope *scope, int device, int peer, CUcontext context)
{
    const struct cf__driver *driver = scope->driver;
    int mode = cf__capture_relax(driver), was_enabled = cf__peer_enabled(device, peer);
    CUresult result = driver->cuCtxEnablePeerAccess(context, 0);
    int is_done = result == CUDA_SUCCESS;
    const char *call = "cuCtxEnablePeerAccess";
    if (is_done || result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
        note_peer(device, peer, is_done); /* before access to the pool is granted, because another thread may be
                                           * creating the pool */
        call = "cuMemPoolSetAccess";
        result = cf__mempool_set_access(driver, device, peer, 1);
        if (result != CUDA_SUCCESS && !was_enabled) {
            (void)forget_peer(device, peer);
            if (is_done)
                (void)driver->cuCtxDisablePeerAccess(context);
        }
    }
    cf__capture_restore(driver, mode);
    return result == CUDA_SUCCESS
               ? CF_OK
               : cf__fail_driver(driver, result, call, "cf_peer_enable: device %d, peer %d", device, peer);
}

static int check_peers(const char *function, int device, int peer, int *is_possible)
{
    if (cf__log_is_inside())
        return cf__fail(CF_EINVAL, "%s: called from the callback of cf_set_log()", function);
    return query_possible(function, device, peer, is_possible);
}

int cf_peer_enable(int device, int peer)
{
    int is_possible, status = check_peers("cf_peer_enable", device, peer, &is_possible);
    if (status != CF_OK)
        return status;
    if (!is_possible)
        return cf__fail(CF_ENOTSUP, "cf_peer_enable: device %d does not reach the memory of device %d", device, peer);
    if (device == peer)
        return CF_OK;
    CUcontext context;
    struct cf__scope scope;
    status = enter_pair(&scope, "cf_peer_enable", device, peer, &context);
    if (status != CF_OK)
        return status;
    cf__peer_lock();
    status = enable_in(&scope, device, peer, context);
    cf__peer_unlock();
    cf__leave(&scope);
    return status;
}

/* Disables access that this library enabled. There is nothing to disable in a context that is gone. A failure changes
 * nothing. The caller holds the lock. */
static int disable_in(const struct cf__scope *scope, const char *function, int device, int peer, CUcontext context)
{
    const struct cf__driver *driver = scope->driver;
    const char *call = "cuMemPoolSetAccess";
    int mode = cf__capture_relax(driver);
    CUresult result = cf__peer_enabled(device, peer) ? cf__mempool_set_access(driver, device, peer, 0) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && forget_peer(device, peer)) {
        call = "cuCtxDisablePeerAccess";
        result = driver->cuCtxDisablePeerAccess(context);
        if (result == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
            result = CUDA_SUCCESS;
        if (result != CUDA_SUCCESS) {
            note_peer(device, peer, 1);
            (void)cf__mempool_set_access(driver, device, peer, 1);
        }
    }
    cf__capture_restore(driver, mode);
    return result == CUDA_SUCCESS
               ? CF_OK
               : cf__fail_driver(driver, result, call, "%s: device %d, peer %d", function, device, peer);
}

static int disable_peer(const char *function, int device, int peer)
{
    if (!cf__peer_enabled(device, peer) || device == peer)
        return CF_OK;
    CUcontext context;
    struct cf__scope scope;
    int status = enter_pair(&scope, function, device, peer, &context);
    if (status != CF_OK)
        return status;
    cf__peer_lock();
    status = disable_in(&scope, function, device, peer, context);
    cf__peer_unlock();
    cf__leave(&scope);
    return status;
}

int cf_peer_disable(int device, int peer)
{
    int is_possible, status = check_peers("cf_peer_disable", device, peer, &is_possible);
    return status == CF_OK ? disable_peer("cf_peer_disable", device, peer) : status;
}

int cf__peers_disable(const struct cf__driver *driver)
{
    int status = CF_OK;
    for (int peer = 0; driver && peer < CF__MAX_DEVICES; peer++)
        for (int device = 0; cf__peer_mask(peer) && device < CF__MAX_DEVICES; device++) {
            int failed = disable_peer("cf_shutdown", device, peer);
            if (failed == CF_EFAULT) /* a lost context has no access to disable */
                (void)forget_peer(device, peer);
            else if (failed != CF_OK)
                status = failed;
        }
    return status;
}
