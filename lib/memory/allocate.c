/* allocate.c - allocates and frees device memory and page-locked memory. */
#include <stdint.h>

#include <cuferry.h>

#include "base/error.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/lost.h"
#include "stream/sync.h"
#include "memory/allocation_cache.h"
#include "memory/locate.h"
#include "memory/mempool.h"

/* ---- Allocation ---- */

typedef CUresult allocate_function(const struct cf__driver *driver, void **pointer, size_t bytes);

static CUresult allocate_device(const struct cf__driver *driver, void **pointer, size_t bytes)
{
    CUdeviceptr memory;
    CUresult result = driver->cuMemAlloc(&memory, bytes);
    if (result == CUDA_SUCCESS)
        *pointer = (void *)(uintptr_t)memory;
    return result;
}

static CUresult allocate_pinned(const struct cf__driver *driver, void **pointer, size_t bytes)
{
    void *memory;
    CUresult result = driver->cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
    if (result == CUDA_SUCCESS)
        *pointer = memory;
    return result;
}

/* Allocates memory. If there is none, returns the pool's unused memory to the driver and tries once more. */
static int allocate_memory(const char *function, const char *call, allocate_function *from, void **pointer,
                           size_t bytes)
{
    if (!pointer)
        return cf__fail(CF_EINVAL, "%s: pointer is NULL", function);
    if (bytes == 0) {
        *pointer = NULL;
        return CF_OK;
    }
    struct cf__scope scope;
    int status = cf__enter(&scope, function, NULL);
    if (status != CF_OK)
        return status;
    int mode = cf__capture_relax(scope.driver);
    CUresult result = from(scope.driver, pointer, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && cf__mempool_trim(&scope))
        result = from(scope.driver, pointer, bytes);
    cf__capture_restore(scope.driver, mode);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(scope.driver, result, call, "%s: %zu bytes", function, bytes);
    else
        (from == allocate_pinned ? cf__handle_add_memory : cf__allocation_add)(&scope, *pointer, bytes);
    cf__leave(&scope);
    return status;
}

int cf_mem_alloc(void **pointer, size_t bytes)
{
    return allocate_memory("cf_mem_alloc", "cuMemAlloc", allocate_device, pointer, bytes);
}

int cf_mem_alloc_pinned(void **pointer, size_t bytes)
{
    return allocate_memory("cf_mem_alloc_pinned", "cuMemHostAlloc", allocate_pinned, pointer, bytes);
}

/* Determines whether a pool owns the memory, because the driver frees such memory without waiting. Returns a status. */
static int check_pool(const struct cf__memory *memory, const void *pointer, int *is_of_pool)
{
    CUmemoryPool pool = NULL;
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    void *data = &pool;
    *is_of_pool = memory->is_device && !memory->context;
    if (!memory->is_device || !memory->context)
        return CF_OK;
    CUresult result = memory->driver->cuPointerGetAttributes(1, &attribute, &data, (uintptr_t)pointer);
    *is_of_pool = pool != NULL;
    return result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE
               ? CF_OK
               : cf__fail_driver(memory->driver, result, "cuPointerGetAttributes", "cf_mem_free: %p", pointer);
}

static int free_pinned(const struct cf__driver *driver, void *pointer)
{
    unsigned int serial = cf__handle_serial(CF__PAGE_LOCKED, pointer);
    CUresult result = driver->cuMemFreeHost(pointer);
    if (result == CUDA_SUCCESS) {
        cf__handle_remove(CF__PAGE_LOCKED, pointer, serial);
        return CF_OK;
    }
    return cf__fail_driver(driver, result, "cuMemFreeHost",
                           "cf_mem_free: %p is page-locked memory, and not from cf_mem_alloc_pinned()", pointer);
}

/* Frees device memory. `waits` is 1 for memory of a pool, because the driver itself waits only before it frees memory
 * of cuMemAlloc(). */
static int free_device(const struct cf__scope *scope, void *pointer, int waits)
{
    const struct cf__driver *driver = scope->driver;
    const char *call = "cuCtxSynchronize";
    CUresult result = CUDA_SUCCESS;
    int status = waits ? cf__sync_context("cf_mem_free", scope, &result) : CF_OK;
    if (status != CF_OK)
        return status;
    if (result == CUDA_SUCCESS) {
        call = "cuMemFree";
        cf__allocation_drop(pointer);
        result = driver->cuMemFree((uintptr_t)pointer);
    }
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(driver, result, call, "cf_mem_free: %p", pointer);
}

int cf_mem_free(void *pointer)
{
    if (!pointer)
        return CF_OK;
    struct cf__memory memory;
    int status = cf__locate("cf_mem_free", pointer, &memory);
    if (status != CF_OK)
        return status;
    int is_of_pool = 0;
    status = memory.driver ? check_pool(&memory, pointer, &is_of_pool) : CF_OK;
    if (status != CF_OK)
        return status;
    if (!memory.driver || (memory.begin != pointer && !is_of_pool))
        return cf__fail(CF_EINVAL,
                        "cf_mem_free: %p is not from cf_mem_alloc(), cf_mem_alloc_pinned() or "
                        "cf_mem_alloc_async()",
                        pointer);
    struct cf__scope scope;
    status = cf__enter_memory(&scope, "cf_mem_free", &memory);
    if (status != CF_OK)
        return status;
    int mode = cf__capture_relax(scope.driver);
    status = memory.is_bounded ? free_device(&scope, pointer, is_of_pool) : free_pinned(scope.driver, pointer);
    cf__capture_restore(scope.driver, mode);
    cf__leave(&scope);
    return status;
}
