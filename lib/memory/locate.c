/* locate.c - finds the driver, device and allocation of a pointer. */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cuferry.h>

#include "memory/locate.h"

#include "base/error.h"
#include "base/fast.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/lost.h"

/* Queries a driver about a pointer; leaves `memory` unchanged if the driver does not know it. */
static CUresult query_driver(const struct cf__driver *driver, const void *pointer, struct cf__memory *memory)
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
        .is_pinned = type == CU_MEMORYTYPE_HOST && !managed && !driver->is_cpu,
        .device = driver->is_cpu ? CF_HOST : ordinal,
        .usable = (void *)(uintptr_t)address,
        .begin = (const void *)(uintptr_t)begin,
        .left = size ? size - (size_t)((uintptr_t)pointer - begin) : SIZE_MAX,
        .is_bounded = driver->is_cpu || type == CU_MEMORYTYPE_DEVICE || managed,
    };
    return CUDA_SUCCESS;
}

/* Returns 1 if the CPU can read an address. The kernel is asked to read a signal set there for an invalid operation,
 * which changes nothing: the error is EFAULT if the address is unreadable, else EINVAL. */
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
    int status = cf__detect_cuda(function);
    if (status != CF_OK)
        return status;
    const struct cf__driver *cpu = cf__cpu_in_use(), *cuda = cf__cuda_in_use();
    *memory = (struct cf__memory){.device = CF_HOST, .left = SIZE_MAX};
    const struct cf__driver *asked = cpu;
    CUresult result = cpu ? query_driver(cpu, pointer, memory) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && !memory->driver && cuda) {
        asked = cuda;
        result = query_driver(cuda, pointer, memory);
    }
    /* The driver of the GPUs fails after a kernel's fault, and a forked child must not call it. So that work on the CPU
     * can continue, readable memory counts as host memory, unless it is page-locked for the parent. */
    if (cf__is_forked() && !memory->driver && pointer && (!cf__is_readable(pointer) || cf__handle_is_memory(pointer)))
        return cf__fail_fork(function);
    if (result == CUDA_SUCCESS || (cf__result_status(result) == CF_EFAULT && cf__is_readable(pointer)))
        return CF_OK;
    return cf__fail_driver(asked, result, "cuPointerGetAttributes", "%s: %p", function, pointer);
}

size_t cf__bytes_left(uintptr_t address)
{
    const struct cf__driver *cuda = cf__cuda_in_use();
    struct cf__memory memory = {.left = SIZE_MAX};
    return cuda && query_driver(cuda, (const void *)address, &memory) == CUDA_SUCCESS ? memory.left : SIZE_MAX;
}

int cf__enter_memory(struct cf__scope *scope, const char *function, const struct cf__memory *memory)
{
    return memory->context ? cf__enter_context(scope, function, memory->driver, memory->context)
                           : cf__enter_current_or_primary(scope, function, memory->device);
}
