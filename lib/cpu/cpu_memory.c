/* cpu_memory.c - memory of the CPU driver: allocations, copies, fills, pools and attributes of pointers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/cpu_memory.h"

#include "driver/driver.h"
#include "cpu/cpu_capture.h"
#include "cpu/cpu_graph.h"
#include "cpu/cpu_stream.h"
#include "cpu/driver_cpu.h"

#define ALIGNMENT 256

struct allocation {
    char *begin;
    size_t size;
    struct cf__cpu_graph_memory *graph_memory; /* graph memory at this address, or NULL */
};
static struct allocation *allocations; /* sorted by address */
static size_t allocation_count, allocation_room;

/* ---- Allocations ---- */

/* Returns the number of allocations that begin at or below `pointer`. The caller holds the lock. */
static size_t allocations_up_to(const char *pointer)
{
    size_t low = 0, high = allocation_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)allocations[middle].begin <= (uintptr_t)pointer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Looks up the allocation that begins at `pointer`. The caller holds the lock. */
static struct allocation *find_allocation(CUdeviceptr pointer)
{
    char *memory = (char *)(uintptr_t)pointer;
    size_t at = allocations_up_to(memory);
    return at && allocations[at - 1].begin == memory ? &allocations[at - 1] : NULL;
}

static CUresult allocate_memory(CUdeviceptr *pointer, size_t bytes, struct cf__cpu_graph_memory *graph_memory)
{
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    void *memory = NULL;
    if (bytes > PTRDIFF_MAX || posix_memalign(&memory, ALIGNMENT, bytes) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    cf__cpu_lock();
    if (allocation_count == allocation_room) {
        size_t room = allocation_room ? 2 * allocation_room : 64;
        struct allocation *larger = realloc(allocations, room * sizeof *larger);
        if (!larger) {
            cf__cpu_unlock();
            free(memory);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        allocations = larger;
        allocation_room = room;
    }
    size_t at = allocations_up_to(memory);
    memmove(allocations + at + 1, allocations + at, (allocation_count - at) * sizeof *allocations);
    allocations[at] = (struct allocation){memory, bytes, graph_memory};
    allocation_count++;
    cf__cpu_unlock();
    *pointer = (uintptr_t)memory;
    return CUDA_SUCCESS;
}

/* Removes an allocation from the list and returns its memory. The caller holds the lock. */
static void *remove_allocation(struct allocation *allocation)
{
    void *memory = allocation->begin;
    size_t after = allocation_count - (size_t)(allocation - allocations) - 1;
    memmove(allocation, allocation + 1, after * sizeof *allocation);
    allocation_count--;
    return memory;
}

CUresult cf__cpu_cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
    return allocate_memory(pointer, bytes, NULL);
}

/* Frees memory of any kind. Memory that a graph owns remains for the graph's next run. */
CUresult cf__cpu_cuMemFree(CUdeviceptr pointer)
{
    void *memory = NULL;
    CUresult result = CUDA_SUCCESS;
    cf__cpu_lock();
    struct allocation *allocation = find_allocation(pointer);
    if (!allocation || (allocation->graph_memory && !allocation->graph_memory->is_allocated)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (allocation->graph_memory && allocation->graph_memory->owners) {
        allocation->graph_memory->is_allocated = 0;
    } else {
        free(allocation->graph_memory);
        memory = remove_allocation(allocation);
    }
    cf__cpu_unlock();
    free(memory);
    return result;
}

CUresult cf__cpu_cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    CUdeviceptr memory;
    (void)flags;
    CUresult result = allocate_memory(&memory, bytes, NULL);
    if (result == CUDA_SUCCESS)
        *pointer = (void *)(uintptr_t)memory;
    return result;
}

CUresult cf__cpu_cuMemFreeHost(void *pointer)
{
    return cf__cpu_cuMemFree((uintptr_t)pointer);
}

CUresult cf__cpu_graph_memory_create(struct cf__cpu_graph_memory **graph_memory, size_t bytes)
{
    struct cf__cpu_graph_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->owners = 1;
    CUresult result = allocate_memory(&memory->address, bytes, memory);
    if (result != CUDA_SUCCESS)
        free(memory);
    else
        *graph_memory = memory;
    return result;
}

void cf__cpu_graph_memory_release(struct cf__cpu_graph_memory *graph_memory)
{
    if (--graph_memory->owners > 0 || graph_memory->is_allocated)
        return;
    free(remove_allocation(find_allocation(graph_memory->address)));
    free(graph_memory);
}

struct cf__cpu_graph_memory *cf__cpu_graph_memory_find(CUdeviceptr address)
{
    struct allocation *allocation = find_allocation(address);
    return allocation ? allocation->graph_memory : NULL;
}

void cf__cpu_memory_free(void)
{
    for (size_t i = 0; i < allocation_count; i++) {
        free(allocations[i].graph_memory);
        free(allocations[i].begin);
    }
    free(allocations);
    allocations = NULL;
    allocation_count = allocation_room = 0;
}

/* ---- Stream-ordered memory and pools, which cache nothing here ---- */

CUresult cf__cpu_cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    return cf__cpu_is_captured(slot) ? cf__cpu_graph_add_alloc(slot, pointer, bytes)
                                     : allocate_memory(pointer, bytes, NULL);
}

CUresult cf__cpu_cuMemFreeAsync(CUdeviceptr pointer, CUstream stream)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    return cf__cpu_is_captured(slot) ? cf__cpu_graph_add_free(slot, pointer) : cf__cpu_cuMemFree(pointer);
}

CUresult cf__cpu_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        props->location.id != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = cf__cpu_handle_create(CF__CPU_POOL, NULL);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cf__cpu_cuMemPoolDestroy(CUmemoryPool pool)
{
    return cf__cpu_handle_destroy(pool, CF__CPU_POOL);
}

CUresult cf__cpu_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return cf__cpu_handle_find(pool, CF__CPU_POOL) && attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && value
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cf__cpu_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)keep;
    return cf__cpu_handle_find(pool, CF__CPU_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The only device is the CPU, so there is no other one to give access to. */
CUresult cf__cpu_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    (void)access;
    return cf__cpu_handle_find(pool, CF__CPU_POOL) && count == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cf__cpu_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    return cf__cpu_handle_find(pool, CF__CPU_POOL) ? cf__cpu_cuMemAllocAsync(pointer, bytes, stream)
                                                   : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Attributes of pointers and of the memory ---- */

/* Like the CUDA driver, the function stores zeros for an unknown pointer. */
CUresult cf__cpu_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                        CUdeviceptr pointer)
{
    struct allocation known = {NULL, 0, NULL};
    const char *address = (const char *)(uintptr_t)pointer;
    cf__cpu_lock();
    size_t at = allocations_up_to(address);
    if (at && (size_t)(address - allocations[at - 1].begin) < allocations[at - 1].size)
        known = allocations[at - 1];
    cf__cpu_unlock();
    for (unsigned int i = 0; i < count; i++)
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            *(CUcontext *)data[i] = known.begin ? &cf__cpu_context : NULL;
            break;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned int *)data[i] = known.begin ? CU_MEMORYTYPE_HOST : 0;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            *(CUdeviceptr *)data[i] = known.begin ? pointer : 0;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *(int *)data[i] = 0;
            break;
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            *(CUdeviceptr *)data[i] = (uintptr_t)known.begin;
            break;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            *(size_t *)data[i] = known.size;
            break;
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            *(CUmemoryPool *)data[i] = NULL;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
    return CUDA_SUCCESS;
}

static size_t count_page_bytes(int which)
{
    long count = sysconf(which), size = sysconf(_SC_PAGESIZE);
    return count > 0 && size > 0 ? (size_t)count * (size_t)size : 0;
}

CUresult cf__cpu_cuMemGetInfo(size_t *free, size_t *total)
{
    *free = count_page_bytes(_SC_AVPHYS_PAGES);
    *total = count_page_bytes(_SC_PHYS_PAGES);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = count_page_bytes(_SC_PHYS_PAGES);
    return CUDA_SUCCESS;
}

/* ---- Copies and fills ---- */

struct copy_node {
    struct cf__cpu_node node;
    void *target;
    const void *source;
    size_t bytes;
};

static CUresult run_copy(struct cf__cpu_node *node)
{
    const struct copy_node *copy = (const struct copy_node *)node;
    if (copy->bytes)
        memmove(copy->target, copy->source, copy->bytes);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream)
{
    struct copy_node copy = {{.run = run_copy}, (void *)(uintptr_t)target, (const void *)(uintptr_t)source, bytes};
    return cf__cpu_enqueue(stream, &copy.node, sizeof copy);
}

CUresult cf__cpu_cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    return cf__cpu_cuMemcpyAsync(target, source, bytes, NULL);
}

CUresult cf__cpu_cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                                   CUcontext source_context, size_t bytes, CUstream stream)
{
    return target_context == &cf__cpu_context && source_context == &cf__cpu_context
               ? cf__cpu_cuMemcpyAsync(target, source, bytes, stream)
               : CUDA_ERROR_INVALID_CONTEXT;
}

struct copy_2d_node {
    struct cf__cpu_node node;
    CUDA_MEMCPY2D of;
};

/* Host and device memory are both the CPU's memory. */
static CUresult run_copy_2d(struct cf__cpu_node *node)
{
    const CUDA_MEMCPY2D *copy = &((const struct copy_2d_node *)node)->of;
    const char *source =
        copy->srcMemoryType == CU_MEMORYTYPE_HOST ? copy->srcHost : (const char *)(uintptr_t)copy->srcDevice;
    char *target = copy->dstMemoryType == CU_MEMORYTYPE_HOST ? copy->dstHost : (char *)(uintptr_t)copy->dstDevice;
    source += copy->srcY * copy->srcPitch + copy->srcXInBytes;
    target += copy->dstY * copy->dstPitch + copy->dstXInBytes;
    for (size_t row = 0; row < copy->Height; row++)
        memmove(target + row * copy->dstPitch, source + row * copy->srcPitch, copy->WidthInBytes);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    if (copy->WidthInBytes > copy->srcPitch || copy->WidthInBytes > copy->dstPitch)
        return CUDA_ERROR_INVALID_VALUE;
    struct copy_2d_node work = {{.run = run_copy_2d}, *copy};
    return cf__cpu_enqueue(stream, &work.node, sizeof work);
}

CUresult cf__cpu_cuMemcpy2D(const CUDA_MEMCPY2D *copy)
{
    return cf__cpu_cuMemcpy2DAsync(copy, NULL);
}

struct fill_node {
    struct cf__cpu_node node;
    void *target;
    unsigned char value;
    size_t bytes;
};

static CUresult run_fill(struct cf__cpu_node *node)
{
    const struct fill_node *fill = (const struct fill_node *)node;
    if (fill->bytes)
        memset(fill->target, fill->value, fill->bytes);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream)
{
    struct fill_node fill = {{.run = run_fill}, (void *)(uintptr_t)target, value, bytes};
    return cf__cpu_enqueue(stream, &fill.node, sizeof fill);
}
