/* mempool.c - allocates and frees memory in stream order, from a pool that the library has for each GPU. */
#include <limits.h>
#include <stdint.h>

#include <cuferry.h>

#include "memory/mempool.h"

#include "base/error.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "context/backend.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "memory/allocation_cache.h"
#include "memory/locate.h"
#include "memory/peer.h"
#include "memory/scratch_reclaim.h"

/* The library does not use the devices' default pools, which other libraries of the process may use. It creates pools
 * without a lock: if two threads create one simultaneously, one of them destroys its own. */
struct pool {
    CUmemoryPool handle; /* handle; NULL until the first use; atomic */
    int is_absent;       /* 1 if the device does not support pools; atomic */
};
static struct pool pools[CF__MAX_DEVICES];

/* ---- Pools ---- */

static struct pool *find_pool(int device)
{
    return device >= 0 && device < CF__MAX_DEVICES ? &pools[device] : NULL;
}

static CUmemoryPool get_handle(struct pool *pool)
{
    return pool ? __atomic_load_n(&pool->handle, __ATOMIC_SEQ_CST) : NULL;
}

static int is_absent(struct pool *pool)
{
    return !pool || __atomic_load_n(&pool->is_absent, __ATOMIC_RELAXED);
}

static CUresult set_access(const struct cf__driver *driver, CUmemoryPool pool, int device, int is_on)
{
    const CUmemAccessDesc access = {
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, device},
        .flags = is_on ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE,
    };
    return driver->cuMemPoolSetAccess(pool, &access, 1);
}

/* Grants every GPU of a mask access to the pool. */
static CUresult grant_access(const struct cf__driver *driver, CUmemoryPool pool, uint64_t devices)
{
    CUresult result = CUDA_SUCCESS;
    for (int device = 0; result == CUDA_SUCCESS && devices; device++, devices >>= 1)
        if (devices & 1)
            result = set_access(driver, pool, device, 1);
    return result;
}

static CUresult destroy_pool(const struct cf__driver *driver, uintptr_t pool)
{
    return driver->cuMemPoolDestroy((CUmemoryPool)pool);
}

/* Creates a pool that caches freed memory. */
static CUresult create_pool(const struct cf__scope *scope, int device, uint64_t peers, CUmemoryPool *made,
                            const char **call)
{
    const struct cf__driver *driver = scope->driver;
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    unsigned long long threshold = ULLONG_MAX;
    *call = "cuMemPoolCreate";
    CUresult result = driver->cuMemPoolCreate(made, &props);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuMemPoolSetAttribute";
    result = driver->cuMemPoolSetAttribute(*made, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
    if (result == CUDA_SUCCESS) {
        *call = "cuMemPoolSetAccess";
        result = grant_access(driver, *made, peers);
    }
    if (result != CUDA_SUCCESS)
        cf__free_or_defer(driver, scope->context, destroy_pool, (uintptr_t)*made);
    return result;
}

/* Queries whether the device supports pools. */
static CUresult check_support(const struct cf__scope *scope, int device, const char **call)
{
    struct pool *pool = find_pool(device);
    int is_there = 0;
    if (is_absent(pool) || get_handle(pool))
        return CUDA_SUCCESS;
    *call = "cuDeviceGetAttribute";
    CUresult result =
        scope->driver->cuDeviceGetAttribute(&is_there, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, (CUdevice)device);
    if (result == CUDA_SUCCESS && !is_there)
        __atomic_store_n(&pool->is_absent, 1, __ATOMIC_RELAXED);
    return result;
}

static CUresult add_pool(const struct cf__scope *scope, int device, struct pool *pool, const char **call)
{
    const struct cf__driver *driver = scope->driver;
    CUmemoryPool made = NULL, none = NULL;
    uint64_t peers = cf__peer_mask(device);
    CUresult result = create_pool(scope, device, peers, &made, call);
    if (result != CUDA_SUCCESS)
        return result;
    if (!__atomic_compare_exchange_n(&pool->handle, &none, made, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        cf__free_or_defer(driver, scope->context, destroy_pool, (uintptr_t)made);
        return CUDA_SUCCESS;
    }
    /* cf_peer_enable() in another thread may have missed the new pool, so grant its access here. */
    return grant_access(driver, made, cf__peer_mask(device) & ~peers);
}

/* Creates the pool of a device at its first use, if the device supports pools. */
static CUresult prepare_pool(const struct cf__scope *scope, int device, const char **call)
{
    struct pool *pool = find_pool(device);
    CUresult result = check_support(scope, device, call);
    if (result != CUDA_SUCCESS || is_absent(pool) || get_handle(pool))
        return result;
    int mode = cf__capture_relax(scope->driver);
    result = add_pool(scope, device, pool, call);
    cf__capture_restore(scope->driver, mode);
    return result;
}

int cf__mempool_exists(int device)
{
    return !is_absent(find_pool(device));
}

CUresult cf__mempool_set_access(const struct cf__driver *driver, int device, int peer, int is_on)
{
    CUmemoryPool pool = get_handle(find_pool(peer));
    return pool ? set_access(driver, pool, device, is_on) : CUDA_SUCCESS;
}

int cf__mempool_trim(const struct cf__scope *scope)
{
    CUdevice device;
    if (scope->driver->is_cpu || scope->driver->cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return 0;
    int is_less = cf__reclaim_trim(scope, device);
    CUmemoryPool pool = get_handle(find_pool(device));
    return (pool && scope->driver->cuMemPoolTrimTo(pool, 0) == CUDA_SUCCESS) || is_less;
}

int cf__mempool_destroy(const struct cf__driver *driver, int device)
{
    struct pool *pool = find_pool(device);
    CUmemoryPool handle = get_handle(pool);
    int mode = cf__capture_relax(driver);
    CUresult result = handle ? driver->cuMemPoolDestroy(handle) : CUDA_SUCCESS;
    cf__capture_restore(driver, mode);
    if (result != CUDA_SUCCESS && !cf__result_is_gone(result))
        return cf__fail_driver(driver, result, "cuMemPoolDestroy", "the memory pool of device %d", device);
    if (pool)
        *pool = (struct pool){NULL, 0};
    return CF_OK;
}

void cf__mempools_forget(void)
{
    for (int device = 0; device < CF__MAX_DEVICES; device++)
        pools[device] = (struct pool){NULL, 0};
}

int cf__mempools_destroy(const struct cf__driver *driver)
{
    int status = CF_OK;
    for (int device = 0; driver && device < CF__MAX_DEVICES; device++) {
        int failed = cf__mempool_destroy(driver, device);
        if (failed != CF_OK)
            status = failed;
    }
    return status;
}

/* ---- Allocation ---- */

/* Fails if the stream is being captured, because an immediate allocation or free would invalidate the capture. `wanted`
 * names the driver function that the caller is about to call. */
static CUresult check_capture(const struct cf__scope *scope, cf_stream stream, const char *wanted, const char **call)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    *call = "cuStreamIsCapturing";
    CUresult result = scope->driver->cuStreamIsCapturing(stream, &status);
    if (result != CUDA_SUCCESS)
        return result;
    *call = wanted;
    return status == CU_STREAM_CAPTURE_STATUS_NONE ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* Used for devices without pools. Allocates immediately, which also satisfies the stream's order. */
static CUresult allocate_at_once(const struct cf__scope *scope, cf_stream stream, size_t bytes, CUdeviceptr *memory,
                                 const char **call)
{
    CUresult result = check_capture(scope, stream, "cuMemAlloc", call);
    if (result != CUDA_SUCCESS)
        return result;
    int mode = cf__capture_relax(scope->driver);
    result = scope->driver->cuMemAlloc(memory, bytes);
    cf__capture_restore(scope->driver, mode);
    return result;
}

/* Used for devices without pools. Waits for the stream, then frees the memory. */
static CUresult free_at_once(const struct cf__scope *scope, cf_stream stream, CUdeviceptr memory, const char **call)
{
    CUresult result = check_capture(scope, stream, "cuMemFree", call);
    if (result != CUDA_SUCCESS)
        return result;
    int mode = cf__capture_relax(scope->driver);
    *call = "cuStreamSynchronize";
    result = scope->driver->cuStreamSynchronize(stream);
    if (result == CUDA_SUCCESS) {
        cf__inflight_waited(scope, stream);
        *call = "cuMemFree";
        result = scope->driver->cuMemFree(memory);
    }
    cf__capture_restore(scope->driver, mode);
    return result;
}

/* If the allocation fails, the pool's unused pieces may be too small: returns them to the driver and tries again.
 * Outside of graphs, the driver treats this as a call that may invalidate captures of other streams, hence
 * cf__capture_relax(). */
static CUresult allocate_from_pool(const struct cf__scope *scope, CUmemoryPool pool, cf_stream stream, size_t bytes,
                                   CUdeviceptr *memory)
{
    int mode = cf__capture_relax(scope->driver);
    CUresult result = scope->driver->cuMemAllocFromPoolAsync(memory, bytes, pool, stream);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && cf__mempool_trim(scope))
        result = scope->driver->cuMemAllocFromPoolAsync(memory, bytes, pool, stream);
    cf__capture_restore(scope->driver, mode);
    return result;
}

static CUresult free_relaxed(const struct cf__driver *driver, cf_stream stream, CUdeviceptr memory)
{
    int mode = cf__capture_relax(driver);
    CUresult result = driver->cuMemFreeAsync(memory, stream);
    cf__capture_restore(driver, mode);
    return result;
}

CUresult cf__mempool_alloc_async(const struct cf__scope *scope, cf_stream stream, size_t bytes, CUdeviceptr *memory,
                                 const char **call)
{
    const struct cf__driver *driver = scope->driver;
    CUdevice device;
    *memory = 0;
    *call = "cuMemAllocAsync";
    if (driver->is_cpu)
        return driver->cuMemAllocAsync(memory, bytes, stream);
    *call = "cuCtxGetDevice";
    CUresult result = driver->cuCtxGetDevice(&device);
    if (result != CUDA_SUCCESS)
        return result;
    result = prepare_pool(scope, device, call);
    if (result != CUDA_SUCCESS)
        return result;
    struct pool *pool = find_pool(device);
    if (is_absent(pool)) {
        result = allocate_at_once(scope, stream, bytes, memory, call);
    } else {
        *call = "cuMemAllocFromPoolAsync";
        result = allocate_from_pool(scope, get_handle(pool), stream, bytes, memory);
    }
    if (result != CUDA_SUCCESS)
        *memory = 0;
    return result;
}

CUresult cf__mempool_free_async(const struct cf__scope *scope, cf_stream stream, CUdeviceptr memory, const char **call)
{
    const struct cf__driver *driver = scope->driver;
    CUdevice device;
    if (!driver->is_cpu) {
        *call = "cuCtxGetDevice";
        CUresult result = driver->cuCtxGetDevice(&device);
        if (result == CUDA_SUCCESS)
            result = check_support(scope, device, call);
        if (result != CUDA_SUCCESS)
            return result;
        if (is_absent(find_pool(device)))
            return free_at_once(scope, stream, memory, call);
    }
    *call = "cuMemFreeAsync";
    return driver->is_cpu ? driver->cuMemFreeAsync(memory, stream) : free_relaxed(driver, stream, memory);
}

/* ---- The public functions ---- */

int cf_mem_alloc_async(cf_stream stream, void **pointer, size_t bytes)
{
    if (!pointer)
        return cf__fail(CF_EINVAL, "cf_mem_alloc_async: pointer is NULL");
    if (bytes == 0) {
        *pointer = NULL;
        return CF_OK;
    }
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_mem_alloc_async", stream);
    if (status != CF_OK)
        return status;
    CUdeviceptr memory;
    const char *call;
    CUresult result = cf__mempool_alloc_async(&scope, stream, bytes, &memory, &call);
    if (result == CUDA_SUCCESS)
        *pointer = (void *)(uintptr_t)memory;
    else
        status = cf__fail_driver(scope.driver, result, call, "cf_mem_alloc_async: %zu bytes", bytes);
    cf__leave(&scope);
    return status;
}

/* Frees memory in the stream's order. Graph memory may be unknown to the driver before its capture ends, so unknown
 * memory is not refused on a GPU. */
static int free_async(const struct cf__scope *scope, cf_stream stream, const struct cf__memory *memory, void *pointer)
{
    const char *call, *function = "cf_mem_free_async";
    int is_ours = memory->driver == scope->driver && memory->is_bounded;
    if (memory->driver ? !is_ours : scope->driver->is_cpu)
        return cf__fail(CF_EINVAL, "%s: %p is not from cf_mem_alloc_async() on the stream's kind of device", function,
                        pointer);
    cf__allocation_drop(pointer);
    CUresult result = cf__mempool_free_async(scope, stream, (uintptr_t)pointer, &call);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(scope->driver, result, call, "%s: %p", function, pointer);
}

int cf_mem_free_async(cf_stream stream, void *pointer)
{
    if (!pointer)
        return CF_OK;
    struct cf__memory memory;
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_mem_free_async", stream);
    if (status != CF_OK)
        return status;
    status = cf__locate("cf_mem_free_async", pointer, &memory);
    if (status == CF_OK)
        status = free_async(&scope, stream, &memory, pointer);
    cf__leave(&scope);
    return status;
}

int cf_mem_trim(size_t keep)
{
    struct cf__scope scope;
    CUdevice device = 0;
    int status = cf__enter(&scope, "cf_mem_trim", NULL);
    if (status != CF_OK)
        return status;
    const struct cf__driver *driver = scope.driver;
    const char *call = "cuCtxGetDevice";
    CUresult result = driver->is_cpu ? CUDA_SUCCESS : driver->cuCtxGetDevice(&device);
    CUmemoryPool pool = result == CUDA_SUCCESS && !driver->is_cpu ? get_handle(find_pool(device)) : NULL;
    if (result == CUDA_SUCCESS && !driver->is_cpu) {
        int mode = cf__capture_relax(driver);
        (void)cf__reclaim_trim(&scope, device);
        call = "cuMemPoolTrimTo";
        result = pool ? driver->cuMemPoolTrimTo(pool, keep) : CUDA_SUCCESS;
        cf__capture_restore(driver, mode);
    }
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(driver, result, call, "cf_mem_trim: %zu bytes", keep);
    cf__leave(&scope);
    return status;
}
