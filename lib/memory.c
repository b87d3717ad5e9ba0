/* memory.c - device memory: allocation, copies, fills, and what is known of a pointer. */
#include <stdint.h>

#include "internal.h"

/* Asks one driver about a pointer; whether it knows it. */
static int ask(const struct cf__driver *driver, const void *pointer, struct cf__memory *memory)
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
    if (driver->cuPointerGetAttributes(COUNT, attributes, data, (uintptr_t)pointer) != CUDA_SUCCESS || type == 0)
        return 0;
    *memory = (struct cf__memory){
        .driver = driver,
        .context = context,
        .is_device = type == CU_MEMORYTYPE_DEVICE && !managed,
        .device = driver->is_host ? CF_HOST : ordinal,
        .usable = (void *)(uintptr_t)address,
        .begin = (const void *)(uintptr_t)begin,
        .left = size ? size - (size_t)((uintptr_t)pointer - begin) : SIZE_MAX,
        .is_bounded = driver->is_host || type == CU_MEMORYTYPE_DEVICE || managed,
    };
    return 1;
}

void cf__locate(const void *pointer, struct cf__memory *memory)
{
    const struct cf__driver *host = cf__host_in_use(), *cuda = cf__cuda_in_use();
    *memory = (struct cf__memory){.device = CF_HOST, .left = SIZE_MAX};
    if (!(host && ask(host, pointer, memory)) && cuda)
        ask(cuda, pointer, memory);
}

/* Enters where a copy, or a fill (source NULL), runs: on the stream's device; without a stream on a GPU whose memory
 * takes part, else on the CPU where its memory does, else on the thread's device. */
static int enter_for(struct cf__place *place, const char *function, cf_stream stream, const struct cf__memory *target,
                     const struct cf__memory *source)
{
    const struct cf__memory *of_gpu = target->is_device ? target : source && source->is_device ? source : NULL;
    if (!stream && of_gpu)
        return cf__enter_context(place, of_gpu->driver, of_gpu->context);
    if (!stream && target->driver && target->driver->is_host)
        return cf__enter_context(place, target->driver, target->context);
    int status = cf__enter(place, function, stream);
    if (status == CF_OK && place->driver->is_host && of_gpu) {
        cf__leave(place);
        status = cf__fail(CF_EINVAL, "%s: %s is memory of device %d and the stream is of CF_HOST", function,
                          of_gpu == target ? "target" : "source", of_gpu->device);
    }
    return status;
}

/* The driver refuses a copy of host memory that is registered with it in part alone: those are done piece by piece. */
CUresult cf__copy(const struct cf__place *place, void *target, const void *source, size_t bytes, int is_async,
                  cf_stream stream)
{
    CUdeviceptr to = (uintptr_t)target, from = (uintptr_t)source;
    CUresult result = CUDA_SUCCESS;
    while (bytes && result == CUDA_SUCCESS) {
        struct cf__memory of_target, of_source;
        cf__locate((const void *)(uintptr_t)to, &of_target);
        cf__locate((const void *)(uintptr_t)from, &of_source);
        size_t piece = of_target.left < of_source.left ? of_target.left : of_source.left;
        if (piece > bytes)
            piece = bytes;
        result =
            is_async ? place->driver->cuMemcpyAsync(to, from, piece, stream) : place->driver->cuMemcpy(to, from, piece);
        to += piece;
        from += piece;
        bytes -= piece;
    }
    return result;
}

int cf_mem_alloc(void **pointer, size_t bytes)
{
    if (!pointer)
        return cf__fail(CF_EINVAL, "cf_mem_alloc: pointer is NULL");
    if (bytes == 0) {
        *pointer = NULL;
        return CF_OK;
    }
    struct cf__place place;
    int status = cf__enter(&place, "cf_mem_alloc", NULL);
    if (status != CF_OK)
        return status;
    CUdeviceptr memory;
    CUresult result = place.driver->cuMemAlloc(&memory, bytes);
    if (result == CUDA_SUCCESS)
        *pointer = (void *)(uintptr_t)memory;
    else
        status = cf__fail_driver(place.driver, result, "cuMemAlloc", "cf_mem_alloc: %zu bytes", bytes);
    cf__leave(&place);
    return status;
}

int cf_mem_free(void *pointer)
{
    if (!pointer)
        return CF_OK;
    struct cf__memory memory;
    cf__locate(pointer, &memory);
    if (!memory.driver || memory.begin != pointer)
        return cf__fail(CF_EINVAL, "cf_mem_free: %p is not from cf_mem_alloc()", pointer);
    struct cf__place place;
    int status = cf__enter_context(&place, memory.driver, memory.context);
    if (status != CF_OK)
        return status;
    CUresult result = place.driver->cuMemFree((uintptr_t)pointer);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuMemFree", "cf_mem_free: %p", pointer);
    cf__leave(&place);
    return status;
}

/* Locates a pointer; NULL, and past the end of an allocation that is known, are refused. */
static int locate(const char *function, const char *name, const void *pointer, size_t bytes, struct cf__memory *memory)
{
    if (!pointer)
        return cf__fail(CF_EINVAL, "%s: %s is NULL", function, name);
    cf__locate(pointer, memory);
    if (memory->is_bounded && bytes > memory->left)
        return cf__fail(CF_EINVAL, "%s: %s has %zu bytes left in its allocation, not %zu", function, name, memory->left,
                        bytes);
    return CF_OK;
}

static int copy(const char *function, cf_stream stream, void *target, const void *source, size_t bytes, int is_async)
{
    if (bytes == 0)
        return CF_OK;
    struct cf__memory of_target, of_source;
    int status = locate(function, "target", target, bytes, &of_target);
    if (status == CF_OK)
        status = locate(function, "source", source, bytes, &of_source);
    struct cf__place place;
    if (status == CF_OK)
        status = enter_for(&place, function, stream, &of_target, &of_source);
    if (status != CF_OK)
        return status;
    CUresult result = cf__copy(&place, target, source, bytes, is_async, stream);
    /* Copies within a device return early: wait, so that "complete" is true of them too. */
    if (result == CUDA_SUCCESS && !is_async)
        result = place.driver->cuStreamSynchronize(NULL);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, is_async ? "cuMemcpyAsync" : "cuMemcpy", "%s: %zu bytes",
                                 function, bytes);
    cf__leave(&place);
    return status;
}

int cf_mem_copy(void *target, const void *source, size_t bytes)
{
    return copy("cf_mem_copy", NULL, target, source, bytes, 0);
}

int cf_mem_copy_async(cf_stream stream, void *target, const void *source, size_t bytes)
{
    return copy("cf_mem_copy_async", stream, target, source, bytes, 1);
}

static int fill(const char *function, cf_stream stream, void *target, unsigned char value, size_t bytes, int is_async)
{
    if (bytes == 0)
        return CF_OK;
    struct cf__memory of_target;
    int status = locate(function, "target", target, bytes, &of_target);
    struct cf__place place;
    if (status == CF_OK)
        status = enter_for(&place, function, stream, &of_target, NULL);
    if (status != CF_OK)
        return status;
    CUresult result = place.driver->cuMemsetD8Async((uintptr_t)target, value, bytes, stream);
    if (result == CUDA_SUCCESS && !is_async)
        result = place.driver->cuStreamSynchronize(stream);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuMemsetD8Async", "%s: %zu bytes", function, bytes);
    cf__leave(&place);
    return status;
}

int cf_mem_fill(void *target, unsigned char value, size_t bytes)
{
    return fill("cf_mem_fill", NULL, target, value, bytes, 0);
}

int cf_mem_fill_async(cf_stream stream, void *target, unsigned char value, size_t bytes)
{
    return fill("cf_mem_fill_async", stream, target, value, bytes, 1);
}
