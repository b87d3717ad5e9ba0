/* fake_memory.c - memory of the played GPU: allocations, symbols and pointer attributes. */
#include <stdlib.h>
#include <string.h>

#include "fake_libcuda.h"

#define POISON 0xA5
#define ALIGNMENT 256

/* ---- Allocations ---- */

void fake_keep(CUmemoryPool pool, uint64_t most)
{
    if (pool->kept > most) {
        fake_counts.pool_kept -= pool->kept - (size_t)most;
        pool->kept = (size_t)most;
    }
}

CUdeviceptr fake_address(const struct fake_allocation *allocation)
{
    return (uintptr_t)allocation->memory + (allocation->type <= FAKE_GLOBAL ? FAKE_DEVICE_OFFSET : 0);
}

struct fake_allocation *fake_find(CUdeviceptr pointer)
{
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        struct fake_allocation *allocation = (struct fake_allocation *)(void *)object;
        if (object->kind == FAKE_ALLOCATION && pointer - fake_address(allocation) < allocation->size)
            return allocation;
    }
    return NULL;
}

struct fake_allocation *fake_find_allocation(CUdeviceptr address)
{
    struct fake_allocation *allocation = fake_find(address);
    return allocation && fake_address(allocation) == address ? allocation : NULL;
}

size_t fake_memory_used(void)
{
    size_t bytes = fake_counts.pool_kept;
    for (const struct fake_object *object = fake_objects; object; object = object->next)
        if (object->kind == FAKE_ALLOCATION)
            bytes += ((const struct fake_allocation *)(const void *)object)->size;
    return bytes;
}

/* Returns 1 if `bytes` bytes are left; to that end it frees memory that pools cache. */
static int is_left(size_t bytes)
{
    if (bytes > fake.memory)
        return 0;
    if (fake_memory_used() > fake.memory - bytes)
        for (struct fake_object *object = fake_objects; object; object = object->next)
            if (object->kind == FAKE_POOL)
                fake_keep((CUmemoryPool)(void *)object, 0);
    return fake_memory_used() <= fake.memory - bytes;
}

/* Memory that was destroyed with its context. A later allocation of the same size gets the same address, so a program
 * that still uses or frees the old memory touches another object. */
static struct {
    char *memory;
    size_t size;
} lost[256];

void fake_lose(struct fake_allocation *allocation)
{
    for (size_t i = 0; i < sizeof lost / sizeof *lost && allocation->type == FAKE_DEVICE_MEMORY; i++)
        if (!lost[i].memory) {
            lost[i].memory = allocation->memory;
            lost[i].size = allocation->size;
            allocation->memory = NULL;
            return;
        }
}

static char *take_memory(size_t bytes)
{
    void *memory = NULL;
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        if (lost[i].memory && lost[i].size == bytes) {
            memory = lost[i].memory;
            lost[i].memory = NULL;
            return memory;
        }
    return posix_memalign(&memory, ALIGNMENT, bytes) == 0 ? memory : NULL;
}

CUresult fake_allocate(CUcontext context, size_t bytes, int type, struct fake_allocation **added)
{
    static uint64_t count;
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    char *memory = bytes <= PTRDIFF_MAX && is_left(bytes) ? take_memory(bytes) : NULL;
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *added = fake_add(FAKE_ALLOCATION, sizeof **added, context);
    (*added)->type = type;
    (*added)->memory = memset(memory, POISON, bytes);
    (*added)->size = bytes;
    (*added)->number = ++count;
    return CUDA_SUCCESS;
}

void fake_poison(struct fake_allocation *allocation)
{
    memset(allocation->memory, POISON, allocation->size);
}

CUresult fake_graph_memory(CUcontext context, size_t bytes, struct fake_allocation **allocation)
{
    CUresult result = fake_allocate(context, bytes, FAKE_DEVICE_MEMORY, allocation);
    if (result == CUDA_SUCCESS)
        (*allocation)->is_async = (*allocation)->owners = 1;
    return result;
}

static CUresult allocate(CUdeviceptr *pointer, size_t bytes, int type)
{
    CUcontext context;
    struct fake_allocation *allocation;
    TRY(fake_begin());
    TRY(fake_current(&context));
    TRY(fake_unsafe());
    TRY(fake_allocate(context, bytes, type, &allocation));
    fake_counts.alloc += type == FAKE_DEVICE_MEMORY;
    *pointer = fake_address(allocation);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
    return allocate(pointer, bytes, FAKE_DEVICE_MEMORY);
}

CUresult fake_cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags)
{
    (void)flags;
    return allocate(pointer, bytes, FAKE_MANAGED);
}

CUresult fake_cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    CUcontext context;
    struct fake_allocation *allocation;
    TRY(fake_begin());
    TRY(fake_current(&context));
    if (flags & ~(unsigned int)CU_MEMHOSTALLOC_PORTABLE)
        return fake_end(CUDA_ERROR_NOT_SUPPORTED); /* the library uses no other flags */
    TRY(fake_unsafe());
    TRY(fake_allocate(context, bytes, FAKE_PINNED, &allocation));
    fake_counts.host_alloc++;
    fake_counts.host_bytes += bytes;
    *pointer = allocation->memory;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuMemAllocHost(void **pointer, size_t bytes)
{
    return fake_cuMemHostAlloc(pointer, bytes, 0);
}

CUresult fake_cuMemGetInfo(size_t *free, size_t *total)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    *total = fake.memory;
    *free = fake.memory - fake_memory_used();
    return fake_end(CUDA_SUCCESS);
}

void fake_let_go(struct fake_allocation *allocation)
{
    allocation->is_there = 0;
    if (!fake_is_of_graph(allocation))
        fake_remove(allocation);
}

/* Stays true after the graphs were destroyed. */
int fake_is_of_graph(const struct fake_allocation *allocation)
{
    return allocation->owners || allocation->is_given || allocation->frees;
}

/* Returns 1 if work waits in a stream of the device that is not a default stream. */
static int is_busy(int device)
{
    for (const struct fake_object *object = fake_objects; object; object = object->next) {
        const struct CUstream_st *stream = (const struct CUstream_st *)(const void *)object;
        if (object->kind == FAKE_STREAM && object->context->device == device && stream->done < stream->submitted)
            return 1;
    }
    return 0;
}

/* Frees memory with the function for its type. Freeing memory from cuMemAlloc and similar functions first waits for the
 * device. Stream-ordered memory is freed at once, because the driver does not wait for its users; doing so while work
 * waits is an error here. */
static CUresult give_back(CUdeviceptr pointer, unsigned int types, CUresult unknown)
{
    TRY(fake_begin());
    struct fake_allocation *allocation = fake_find_allocation(pointer);
    if (!allocation || !(types >> allocation->type & 1) || allocation->is_freed ||
        (fake_is_of_graph(allocation) && !allocation->is_given))
        return fake_end(unknown);
    TRY(fake_failed(allocation->object.context));
    TRY(fake_unsafe());
    if (allocation->is_async && is_busy(allocation->object.context->device))
        return fake_end(CUDA_ERROR_ILLEGAL_STATE);
    fake_drain_all();
    fake_counts.free += allocation->type == FAKE_DEVICE_MEMORY;
    fake_counts.host_free += allocation->type == FAKE_PINNED;
    allocation->is_given = 0;
    fake_let_go(allocation);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuMemFree(CUdeviceptr pointer)
{
    return pointer ? give_back(pointer, 1U << FAKE_DEVICE_MEMORY | 1U << FAKE_MANAGED, CUDA_ERROR_INVALID_VALUE)
                   : CUDA_SUCCESS;
}

CUresult fake_cuMemFreeHost(void *pointer)
{
    return give_back((uintptr_t)pointer, 1U << FAKE_PINNED, CUDA_ERROR_INVALID_VALUE);
}

/* ---- Registered memory ---- */

CUresult fake_cuMemHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    CUcontext context;
    (void)flags;
    TRY(fake_begin());
    TRY(fake_unsafe());
    TRY(fake_current(&context));
    if (!pointer || bytes == 0)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    if (fake_find((uintptr_t)pointer) || fake_find((uintptr_t)pointer + bytes - 1))
        return fake_end(FAKE_ALREADY_REGISTERED);
    struct fake_allocation *allocation = fake_add(FAKE_ALLOCATION, sizeof *allocation, context);
    allocation->type = FAKE_REGISTERED;
    allocation->memory = pointer;
    allocation->size = bytes;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuMemHostUnregister(void *pointer)
{
    return give_back((uintptr_t)pointer, 1U << FAKE_REGISTERED, FAKE_NOT_REGISTERED);
}

/* ---- Pointers ---- */

static void *reach(CUdeviceptr pointer, size_t bytes, int takes_reserved)
{
    const struct fake_allocation *allocation = fake_find(pointer);
    if (!allocation)
        return pointer < FAKE_DEVICE_OFFSET ? (void *)(uintptr_t)pointer : NULL;
    size_t offset = (size_t)(pointer - fake_address(allocation));
    if (fake_is_of_graph(allocation) && !allocation->is_there && !takes_reserved)
        return NULL;
    return bytes <= allocation->size - offset ? allocation->memory + offset : NULL;
}

void *fake_reach(CUdeviceptr pointer, size_t bytes)
{
    return reach(pointer, bytes, 0);
}

/* Memory of a launched graph counts as allocated even before the stream reaches the allocation. */
int fake_will_reach(CUstream stream, CUdeviceptr pointer, size_t bytes)
{
    const struct fake_allocation *allocation = fake_find(pointer);
    return reach(pointer, bytes, stream->capture || (allocation && allocation->is_given)) != NULL;
}

void *fake_reach_from(CUcontext context, CUdeviceptr pointer)
{
    const struct fake_allocation *allocation = fake_find(pointer);
    if (!allocation)
        return fake.pageable ? fake_reach(pointer, 1) : NULL;
    CUcontext owner = allocation->object.context;
    if (allocation->type <= FAKE_GLOBAL && owner->device != context->device &&
        (allocation->is_async ? !(allocation->pool && allocation->pool->peers >> context->device & 1)
                              : !fake_is_peer(context, owner)))
        return NULL;
    return fake_reach(pointer, 1);
}

/* As in the driver, the attributes of an unknown pointer are zeros, except its range, which is not written. */
CUresult fake_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                     CUdeviceptr pointer)
{
    TRY(fake_begin());
    const struct fake_allocation *known = fake_find(pointer);
    for (unsigned int i = 0; i < count; i++)
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            /* Memory of a pool belongs to the device, not to a context. */
            *(CUcontext *)data[i] = known && !known->is_async ? known->object.context : NULL;
            break;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned int *)data[i] = !known                       ? 0
                                       : known->type > FAKE_MANAGED ? CU_MEMORYTYPE_HOST
                                                                    : CU_MEMORYTYPE_DEVICE;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            *(CUdeviceptr *)data[i] = known ? pointer : 0;
            break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *(unsigned char *)data[i] = known && known->type == FAKE_MANAGED;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *(int *)data[i] = known ? known->object.context->device : -2;
            break;
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            if (known)
                *(CUdeviceptr *)data[i] = fake_address(known);
            break;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            if (known)
                *(size_t *)data[i] = known->size;
            break;
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            *(CUmemoryPool *)data[i] = known ? known->pool : NULL;
            break;
        default:
            return fake_end(CUDA_ERROR_INVALID_VALUE);
        }
    return fake_end(CUDA_SUCCESS);
}

/* ---- Symbols ---- */

/* The memory begins as zeros, because the played GPU does not know the image's initial values. */
CUresult fake_global(CUcontext context, CUlibrary library, const cf_symbol *symbol, CUdeviceptr *pointer)
{
    struct fake_allocation *allocation = NULL;
    for (struct fake_object *object = fake_objects; object && !allocation; object = object->next) {
        struct fake_allocation *other = (struct fake_allocation *)(void *)object;
        if (object->kind == FAKE_ALLOCATION && object->context == context && other->library == library &&
            other->symbol == symbol)
            allocation = other;
    }
    if (!allocation) {
        CUresult result = fake_allocate(context, *symbol->cpu_bytes, FAKE_GLOBAL, &allocation);
        if (result != CUDA_SUCCESS)
            return result;
        memset(allocation->memory, 0, allocation->size);
        allocation->library = library;
        allocation->symbol = symbol;
    }
    *pointer = fake_address(allocation);
    return CUDA_SUCCESS;
}

void fake_exchange_globals(CUcontext context, CUlibrary library)
{
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        const struct fake_allocation *global = (const struct fake_allocation *)(const void *)object;
        if (object->kind != FAKE_ALLOCATION || object->context != context || global->type != FAKE_GLOBAL ||
            global->library != library)
            continue;
        char *host = *global->symbol->cpu_data;
        for (size_t i = 0; i < global->size; i++) {
            char byte = host[i];
            host[i] = global->memory[i];
            global->memory[i] = byte;
        }
    }
}
