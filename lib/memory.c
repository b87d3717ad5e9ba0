/* memory.c - memory of devices and page-locked memory: allocation, and what is known of a pointer. */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* ---- What is known of a pointer ---- */

/* Asks one driver about a pointer; leaves `memory` alone where it does not know it. */
static CUresult ask(const struct cf__driver *driver, const void *pointer, struct cf__memory *memory)
{
    enum { COUNT = 7 };
    unsigned int type = 0;
    int managed = 0;
    CUdeviceptr address = 0, begin = 0;
    CUcontext context = NULL;
    int ordinal = 0;
    size_t size = 0;
    CUpointer_attribute attributes[COUNT] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                             CU_POINTER_ATTRIBUTE_CONTEXT,          CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                             CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                             CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *data[COUNT] = {&type, &address, &context, &ordinal, &begin, &size, &managed};
    CUresult result = driver->cuPointerGetAttributes(COUNT, attributes, data, (uintptr_t)pointer);
    if (result == CUDA_ERROR_INVALID_VALUE || (result == CUDA_SUCCESS && type == 0))
        return CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    *memory = (struct cf__memory){
        .driver = driver,
        .context = context,
        .is_device = type == CU_MEMORYTYPE_DEVICE && !managed,
        .is_pinned = type == CU_MEMORYTYPE_HOST && !managed && !driver->is_host,
        .device = driver->is_host ? CF_HOST : ordinal,
        .usable = (void *)(uintptr_t)address,
        .begin = (const void *)(uintptr_t)begin,
        .left = size ? size - (size_t)((uintptr_t)pointer - begin) : SIZE_MAX,
        .is_bounded = driver->is_host || type == CU_MEMORYTYPE_DEVICE || managed,
    };
    return CUDA_SUCCESS;
}

/* Whether the CPU can read at an address, without trying: the kernel looks at the set of signals there, and refuses
 * what is to be done with it. */
int cf__is_readable(const void *pointer)
{
    enum { SET_BYTES = 8, NOTHING_KNOWN = ~0 };
    uintptr_t aligned = (uintptr_t)pointer / SET_BYTES * SET_BYTES;
    int before = errno;
    int is_fault = syscall(SYS_rt_sigprocmask, NOTHING_KNOWN, aligned, NULL, SET_BYTES) != 0 && errno == EFAULT;
    errno = before;
    return !is_fault;
}

int cf__fail_no_memory(const char *function, const char *name, const void *pointer)
{
    return cf__fail(CF_EINVAL,
                    "%s: %s = %p is no memory: the CPU cannot read there, and no device has it; it may have been freed",
                    function, name, pointer);
}

int cf__locate(const char *function, const void *pointer, struct cf__memory *memory)
{
    int status = cf__look_for_cuda(function);
    if (status != CF_OK)
        return status;
    const struct cf__driver *host = cf__host_in_use(), *cuda = cf__cuda_in_use();
    *memory = (struct cf__memory){.device = CF_HOST, .left = SIZE_MAX};
    const struct cf__driver *asked = host;
    CUresult result = host ? ask(host, pointer, memory) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && !memory->driver && cuda) {
        asked = cuda;
        result = ask(cuda, pointer, memory);
    }
    /* After a kernel's fault the driver answers nothing, and in a child it is not asked: what the CPU can read is
     * host memory all the same, so that work on the CPU goes on; but not what is page-locked for the parent. */
    if (cf__is_forked() && !memory->driver && pointer && (!cf__is_readable(pointer) || cf__handle_is_memory(pointer)))
        return cf__fail_fork(function);
    if (result == CUDA_SUCCESS || (cf__status_of(result) == CF_EFAULT && cf__is_readable(pointer)))
        return CF_OK;
    return cf__fail_driver(asked, result, "cuPointerGetAttributes", "%s: %p", function, pointer);
}

size_t cf__left(uintptr_t address)
{
    const struct cf__driver *cuda = cf__cuda_in_use();
    struct cf__memory memory = {.left = SIZE_MAX};
    return cuda && ask(cuda, (const void *)address, &memory) == CUDA_SUCCESS ? memory.left : SIZE_MAX;
}

int cf__enter_memory(struct cf__place *place, const char *function, const struct cf__memory *memory)
{
    return memory->context ? cf__enter_context(place, function, memory->driver, memory->context)
                           : cf__enter_near(place, function, memory->device);
}

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

/* What the library's pool keeps for later is given back before the answer is "no". */
static int allocate(const char *function, const char *call, allocate_function *from, void **pointer, size_t bytes)
{
    if (!pointer)
        return cf__fail(CF_EINVAL, "%s: pointer is NULL", function);
    if (bytes == 0) {
        *pointer = NULL;
        return CF_OK;
    }
    struct cf__place place;
    int status = cf__enter(&place, function, NULL);
    if (status != CF_OK)
        return status;
    int mode = cf__relax(place.driver);
    CUresult result = from(place.driver, pointer, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && cf__pool_trim(&place))
        result = from(place.driver, pointer, bytes);
    cf__unrelax(place.driver, mode);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, call, "%s: %zu bytes", function, bytes);
    else
        (from == allocate_pinned ? cf__handle_keep_memory : cf__owned_add)(&place, *pointer, bytes);
    cf__leave(&place);
    return status;
}

int cf_mem_alloc(void **pointer, size_t bytes)
{
    return allocate("cf_mem_alloc", "cuMemAlloc", allocate_device, pointer, bytes);
}

int cf_mem_alloc_pinned(void **pointer, size_t bytes)
{
    return allocate("cf_mem_alloc_pinned", "cuMemHostAlloc", allocate_pinned, pointer, bytes);
}

/* Whether memory is a pool's, which the driver frees without a wait. */
static int find_pool(const struct cf__memory *memory, const void *pointer, int *is_of_pool)
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
        cf__handle_drop(CF__PAGE_LOCKED, pointer, serial);
        return CF_OK;
    }
    return cf__fail_driver(driver, result, "cuMemFreeHost",
                           "cf_mem_free: %p is page-locked memory, and not from cf_mem_alloc_pinned()", pointer);
}

/* The driver waits before it frees what cuMemAlloc() gave, and not for memory of a pool. */
static int free_device(const struct cf__place *place, void *pointer, int waits)
{
    const struct cf__driver *driver = place->driver;
    const char *call = "cuCtxSynchronize";
    CUresult result = CUDA_SUCCESS;
    int status = waits ? cf__wait_for_device("cf_mem_free", place, &result) : CF_OK;
    if (status != CF_OK)
        return status;
    if (result == CUDA_SUCCESS) {
        call = "cuMemFree";
        cf__owned_drop(pointer);
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
    int of_pool = 0;
    status = memory.driver ? find_pool(&memory, pointer, &of_pool) : CF_OK;
    if (status != CF_OK)
        return status;
    if (!memory.driver || (memory.begin != pointer && !of_pool))
        return cf__fail(CF_EINVAL,
                        "cf_mem_free: %p is not from cf_mem_alloc(), cf_mem_alloc_pinned() or "
                        "cf_mem_alloc_async()",
                        pointer);
    struct cf__place place;
    status = cf__enter_memory(&place, "cf_mem_free", &memory);
    if (status != CF_OK)
        return status;
    int mode = cf__relax(place.driver);
    status = memory.is_bounded ? free_device(&place, pointer, of_pool) : free_pinned(place.driver, pointer);
    cf__unrelax(place.driver, mode);
    cf__leave(&place);
    return status;
}
