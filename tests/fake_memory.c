/* fake_memory.c - memory of the fake driver: allocations, copies, fills, and what is known of a pointer. */
#include <stdlib.h>
#include <string.h>

#include "fake_libcuda.h"

/* Device memory is ordinary memory whose addresses are handed out with this added: past the user's part of the address
 * space on x86-64 and aarch64, so that using one on the CPU ends the process. */
#define DEVICE_OFFSET ((uintptr_t)1 << 48)
#define POISON 0xA5
#define ALIGNMENT 256

/* ---- Allocations ---- */

static void keep(CUmemoryPool pool, uint64_t most)
{
    if (pool->kept > most) {
        fake_counts.pool_kept -= pool->kept - (size_t)most;
        pool->kept = (size_t)most;
    }
}

CUdeviceptr fake_address(const struct fake_allocation *allocation)
{
    return (uintptr_t)allocation->memory + (allocation->type <= FAKE_GLOBAL ? DEVICE_OFFSET : 0);
}

/* The allocation that a pointer lies in. */
static struct fake_allocation *find(CUdeviceptr pointer)
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
    struct fake_allocation *allocation = find(address);
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

/* What pools keep is there for everyone else where it is needed. */
static int is_left(size_t bytes)
{
    if (bytes > fake.memory)
        return 0;
    if (fake_memory_used() > fake.memory - bytes)
        for (struct fake_object *object = fake_objects; object; object = object->next)
            if (object->kind == FAKE_POOL)
                keep((CUmemoryPool)(void *)object, 0);
    return fake_memory_used() <= fake.memory - bytes;
}

static CUresult add(CUcontext context, size_t bytes, int type, struct fake_allocation **added)
{
    void *memory = NULL;
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > PTRDIFF_MAX || !is_left(bytes) || posix_memalign(&memory, ALIGNMENT, bytes) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *added = fake_add(FAKE_ALLOCATION, sizeof **added, context);
    (*added)->type = type;
    (*added)->memory = memset(memory, POISON, bytes);
    (*added)->size = bytes;
    return CUDA_SUCCESS;
}

void fake_poison(struct fake_allocation *allocation)
{
    memset(allocation->memory, POISON, allocation->size);
}

CUresult fake_graph_memory(CUcontext context, size_t bytes, struct fake_allocation **allocation)
{
    CUresult result = add(context, bytes, FAKE_DEVICE_MEMORY, allocation);
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
    TRY(add(context, bytes, type, &allocation));
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
        return fake_end(CUDA_ERROR_NOT_SUPPORTED); /* the library uses no others */
    TRY(fake_unsafe());
    TRY(add(context, bytes, FAKE_PINNED, &allocation));
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

/* A graph's memory stays for the next launch, as long as there is a graph. */
static void let_go(struct fake_allocation *allocation)
{
    allocation->is_there = 0;
    if (!allocation->owners)
        fake_remove(allocation);
}

/* Also where its graphs are gone. */
static int is_of_graph(const struct fake_allocation *allocation)
{
    return allocation->owners || allocation->is_given;
}

/* Whether work waits in a stream of a device, the default ones left out. */
static int is_busy(int device)
{
    for (const struct fake_object *object = fake_objects; object; object = object->next) {
        const struct CUstream_st *stream = (const struct CUstream_st *)(const void *)object;
        if (object->kind == FAKE_STREAM && object->context->device == device && stream->done < stream->submitted)
            return 1;
    }
    return 0;
}

/* What cuMemAlloc and its kin gave goes back when its device is done, to the function of its type. Memory in the
 * order of a stream goes at once: the driver does not wait for who uses it, which is an error here. */
static CUresult give_back(CUdeviceptr pointer, unsigned int types, CUresult unknown)
{
    TRY(fake_begin());
    struct fake_allocation *allocation = fake_find_allocation(pointer);
    if (!allocation || !(types >> allocation->type & 1) || allocation->is_freed ||
        (is_of_graph(allocation) && !allocation->is_given))
        return fake_end(unknown);
    TRY(fake_failed(allocation->object.context));
    TRY(fake_unsafe());
    if (allocation->is_async && is_busy(allocation->object.context->device))
        return fake_end(CUDA_ERROR_ILLEGAL_STATE);
    fake_drain_all();
    fake_counts.free += allocation->type == FAKE_DEVICE_MEMORY;
    fake_counts.host_free += allocation->type == FAKE_PINNED;
    allocation->is_given = 0;
    let_go(allocation);
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

/* ---- Memory in the order of a stream: it is there at once, and goes when the stream gets there ---- */

static void run_graph_alloc(CUcontext context, struct fake_work *work);
static void run_graph_free(CUcontext context, struct fake_work *work);
static void run_removal(CUcontext context, struct fake_work *work);

/* Names memory by its address: it may be gone when this runs. */
struct removal {
    struct fake_work work;
    CUdeviceptr address;
    struct fake_allocation *allocation;
};

static void destroy_node(struct fake_work *work)
{
    struct fake_allocation *allocation = fake_find_allocation(((struct removal *)work)->address);
    if (allocation && allocation->owners && --allocation->owners == 0 && !allocation->is_given)
        fake_remove(allocation);
}

static void add_node(CUstream stream, void (*run)(CUcontext context, struct fake_work *work), CUdeviceptr address)
{
    struct removal *node = fake_submit(stream, run, sizeof *node);
    node->address = address;
    node->work.destroy = destroy_node;
}

static void run_graph_alloc(CUcontext context, struct fake_work *work)
{
    struct fake_allocation *allocation = fake_find_allocation(((struct removal *)work)->address);
    (void)context;
    allocation->is_there = 1;
    fake_poison(allocation);
}

static void run_graph_free(CUcontext context, struct fake_work *work)
{
    struct fake_allocation *allocation = fake_find_allocation(((struct removal *)work)->address);
    (void)context;
    allocation->is_there = 0;
}

/* A launch that allocates again what is still allocated is refused. What the graph frees itself is never
 * outstanding. */
CUresult fake_give_graph_memory(const struct fake_nodes *nodes)
{
    for (int is_checked = 0; nodes->has_memory && is_checked < 2; is_checked++)
        for (struct fake_work *work = nodes->first; work; work = work->next) {
            struct fake_allocation *allocation = NULL;
            if (work->run == run_graph_alloc)
                allocation = fake_find_allocation(((struct removal *)work)->address);
            if (!allocation || allocation->has_end)
                continue;
            if (allocation->is_given && !is_checked)
                return CUDA_ERROR_INVALID_VALUE;
            allocation->is_given = is_checked;
        }
    return CUDA_SUCCESS;
}

static CUresult capture_alloc(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    struct fake_allocation *allocation;
    CUresult result = fake_graph_memory(stream->object.context, bytes, &allocation);
    if (result != CUDA_SUCCESS)
        return result;
    *pointer = fake_address(allocation);
    add_node(stream, run_graph_alloc, *pointer);
    stream->capture->nodes->has_memory = 1;
    fake_counts.alloc_async++;
    fake_counts.alloc_bytes = bytes;
    return CUDA_SUCCESS;
}

static CUresult capture_free(struct fake_allocation *allocation, CUstream stream)
{
    if (!allocation->owners || allocation->has_end)
        return CUDA_ERROR_INVALID_VALUE;
    allocation->owners++;
    allocation->has_end = 1;
    add_node(stream, run_graph_free, fake_address(allocation));
    return CUDA_SUCCESS;
}

static CUresult allocate_async(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream handle)
{
    CUstream stream;
    struct fake_allocation *allocation;
    CUresult result = fake_stream(handle, &stream);
    if (result == CUDA_SUCCESS && !fake.pools)
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS && pool && pool->device != stream->object.context->device)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture)
        return capture_alloc(pointer, bytes, stream);
    result = fake_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (pool && bytes) { /* what is kept is used first */
        size_t kept = pool->kept;
        keep(pool, kept > bytes ? kept - bytes : 0);
    }
    result = add(stream->object.context, bytes, FAKE_DEVICE_MEMORY, &allocation);
    if (result != CUDA_SUCCESS)
        return result;
    allocation->is_async = 1;
    allocation->pool = pool;
    if (pool) {
        pool->used += bytes;
        fake_counts.pool_used += bytes;
    }
    fake_counts.alloc_async++;
    fake_counts.alloc_bytes = bytes;
    *pointer = fake_address(allocation);
    return CUDA_SUCCESS;
}

CUresult fake_cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    TRY(fake_begin());
    return fake_end(allocate_async(pointer, bytes, NULL, stream));
}

CUresult fake_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    TRY(fake_begin());
    if (!fake_is_live(pool, FAKE_POOL))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    return fake_end(allocate_async(pointer, bytes, pool, stream));
}

void fake_forget_pooled(struct fake_allocation *allocation)
{
    CUmemoryPool pool = allocation->pool;
    if (!pool)
        return;
    pool->used -= allocation->size;
    fake_counts.pool_used -= allocation->size;
    pool->kept += allocation->size;
    fake_counts.pool_kept += allocation->size;
    keep(pool, pool->threshold);
}

static void run_removal(CUcontext context, struct fake_work *work)
{
    (void)context;
    let_go(((struct removal *)work)->allocation);
}

CUresult fake_cuMemFreeAsync(CUdeviceptr pointer, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    struct fake_allocation *allocation = fake_find_allocation(pointer);
    if (!allocation || allocation->type != FAKE_DEVICE_MEMORY || allocation->is_freed)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    if (stream->capture)
        return fake_end(capture_free(allocation, stream));
    TRY(fake_unsafe());
    if (is_of_graph(allocation) && !allocation->is_given)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    fake_counts.free_async++;
    allocation->is_freed = !is_of_graph(allocation);
    allocation->is_given = 0;
    ((struct removal *)fake_submit(stream, run_removal, sizeof(struct removal)))->allocation = allocation;
    return fake_end(CUDA_SUCCESS);
}

/* ---- Pools ---- */

CUresult fake_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    TRY(fake_begin());
    TRY(fake_unsafe());
    if (!fake.pools)
        return fake_end(CUDA_ERROR_NOT_SUPPORTED);
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        props->handleTypes || props->win32SecurityAttributes || props->maxSize || props->location.id < 0 ||
        props->location.id >= fake.devices)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < sizeof props->reserved; i++)
        if (props->reserved[i])
            return fake_end(CUDA_ERROR_INVALID_VALUE);
    fake_counts.pool_create++;
    *pool = fake_add(FAKE_POOL, sizeof **pool, NULL);
    (*pool)->device = props->location.id;
    return fake_end(CUDA_SUCCESS);
}

/* What was allocated from it stays. */
CUresult fake_cuMemPoolDestroy(CUmemoryPool pool)
{
    TRY(fake_begin());
    TRY(fake_unsafe());
    if (!fake_is_live(pool, FAKE_POOL))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    for (struct fake_object *object = fake_objects; object; object = object->next)
        if (object->kind == FAKE_ALLOCATION && ((struct fake_allocation *)(void *)object)->pool == pool)
            ((struct fake_allocation *)(void *)object)->pool = NULL;
    fake_counts.pool_used -= pool->used;
    fake_counts.pool_kept -= pool->kept;
    fake_remove(pool);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    TRY(fake_begin());
    if (!fake_is_live(pool, FAKE_POOL) || attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD || !value)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    pool->threshold = *(const uint64_t *)value;
    return fake_end(CUDA_SUCCESS);
}

/* Only devices that could reach a peer's memory can be let in; nobody can be shut out of its own. */
CUresult fake_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    TRY(fake_begin());
    if (!fake_is_live(pool, FAKE_POOL))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        int device = access[i].location.id, is_on = access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || device < 0 || device >= fake.devices ||
            (!is_on && access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) || (device == pool->device && !is_on))
            return fake_end(CUDA_ERROR_INVALID_VALUE);
        if (device != pool->device && !fake.peers)
            return fake_end(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        pool->peers = (pool->peers & ~((uint64_t)1 << device)) | (uint64_t)is_on << device;
    }
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuMemPoolTrimTo(CUmemoryPool pool, size_t most)
{
    TRY(fake_begin());
    TRY(fake_unsafe());
    if (!fake_is_live(pool, FAKE_POOL))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    keep(pool, most > pool->used ? most - pool->used : 0);
    return fake_end(CUDA_SUCCESS);
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
    if (find((uintptr_t)pointer) || find((uintptr_t)pointer + bytes - 1))
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
    const struct fake_allocation *allocation = find(pointer);
    if (!allocation)
        return pointer < DEVICE_OFFSET ? (void *)(uintptr_t)pointer : NULL;
    size_t offset = (size_t)(pointer - fake_address(allocation));
    if (is_of_graph(allocation) && !allocation->is_there && !takes_reserved)
        return NULL;
    return bytes <= allocation->size - offset ? allocation->memory + offset : NULL;
}

void *fake_reach(CUdeviceptr pointer, size_t bytes)
{
    return reach(pointer, bytes, 0);
}

/* A launch that was made counts, also before the stream has got there. */
int fake_will_reach(CUstream stream, CUdeviceptr pointer, size_t bytes)
{
    const struct fake_allocation *allocation = find(pointer);
    return reach(pointer, bytes, stream->capture || (allocation && allocation->is_given)) != NULL;
}

void *fake_reach_from(CUcontext context, CUdeviceptr pointer)
{
    const struct fake_allocation *allocation = find(pointer);
    if (!allocation)
        return fake.pageable ? fake_reach(pointer, 1) : NULL;
    CUcontext owner = allocation->object.context;
    if (allocation->type <= FAKE_GLOBAL && owner->device != context->device &&
        (allocation->is_async ? !(allocation->pool && allocation->pool->peers >> context->device & 1)
                              : !fake_is_peer(context, owner)))
        return NULL;
    return fake_reach(pointer, 1);
}

/* As the driver does, answers "nothing" for a pointer that it does not know, and then leaves its range alone. */
CUresult fake_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                     CUdeviceptr pointer)
{
    TRY(fake_begin());
    const struct fake_allocation *known = find(pointer);
    for (unsigned int i = 0; i < count; i++)
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            /* Memory of a pool is the device's. */
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

/* ---- Copies and fills ---- */

/* Ranges are checked at once, since freeing one waits for the work that refers to it, and again when the work is
 * done: a graph may run when they are gone. */
struct copy {
    struct fake_work work;
    CUdeviceptr target, source;
    size_t bytes;
};

static void count_bytes(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    if (target >= DEVICE_OFFSET && source < DEVICE_OFFSET)
        fake_counts.bytes_in += bytes;
    if (target < DEVICE_OFFSET && source >= DEVICE_OFFSET)
        fake_counts.bytes_out += bytes;
}

static void run_copy(CUcontext context, struct fake_work *work)
{
    const struct copy *copy = (const struct copy *)work;
    void *to = fake_reach(copy->target, copy->bytes);
    const void *from = fake_reach(copy->source, copy->bytes);
    if (!to || !from) {
        fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return;
    }
    memcpy(to, from, copy->bytes);
    count_bytes(copy->target, copy->source, copy->bytes);
}

static CUresult submit_copy(CUstream stream, CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    if (bytes == 0)
        return CUDA_SUCCESS;
    if (!fake_will_reach(stream, target, bytes) || !fake_will_reach(stream, source, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct copy *copy = fake_submit(stream, run_copy, sizeof *copy);
    copy->target = target;
    copy->source = source;
    copy->bytes = bytes;
    fake_counts.copy++;
    return CUDA_SUCCESS;
}

CUresult fake_cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    TRY(submit_copy(stream, target, source, bytes));
    return fake_end(CUDA_SUCCESS);
}

/* The contexts are those of the memory. */
CUresult fake_cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                                CUcontext source_context, size_t bytes, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    if (!fake_context_is_live(target_context) || !fake_context_is_live(source_context))
        return fake_end(CUDA_ERROR_INVALID_CONTEXT);
    const struct fake_allocation *to = find(target), *from = find(source);
    if (bytes && (!to || !from || to->type > FAKE_MANAGED || from->type > FAKE_MANAGED ||
                  to->object.context->device != target_context->device ||
                  from->object.context->device != source_context->device))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    fake_counts.peer_copy++;
    return fake_end(submit_copy(stream, target, source, bytes));
}

/* Copies that the CPU takes no part in are left to the device, as the driver does. */
CUresult fake_cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    TRY(fake_unsafe());
    TRY(fake_implicit(context, 1));
    TRY(submit_copy(&context->legacy, target, source, bytes));
    if (target < DEVICE_OFFSET || source < DEVICE_OFFSET)
        fake_drain(&context->legacy, context->legacy.submitted);
    return fake_end(fake_failed(context));
}

struct copy_2d {
    struct fake_work work;
    CUdeviceptr target, source;
    size_t target_pitch, source_pitch, width, height;
};

static size_t span(size_t pitch, const struct copy_2d *copy)
{
    return (copy->height - 1) * pitch + copy->width;
}

static void run_copy_2d(CUcontext context, struct fake_work *work)
{
    const struct copy_2d *copy = (const struct copy_2d *)work;
    char *to = fake_reach(copy->target, span(copy->target_pitch, copy));
    const char *from = fake_reach(copy->source, span(copy->source_pitch, copy));
    if (!to || !from) {
        fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
        return;
    }
    for (size_t row = 0; row < copy->height; row++)
        memcpy(to + row * copy->target_pitch, from + row * copy->source_pitch, copy->width);
    count_bytes(copy->target, copy->source, copy->width * copy->height);
}

/* Whether a side of a copy of rows is of the kind of memory that it says it is. */
static int is_of_type(CUmemorytype type, CUdeviceptr pointer)
{
    const struct fake_allocation *allocation = find(pointer);
    int is_device = allocation && allocation->type <= FAKE_MANAGED;
    return type == CU_MEMORYTYPE_HOST     ? !is_device || allocation->type == FAKE_MANAGED
           : type == CU_MEMORYTYPE_DEVICE ? is_device
                                          : type == CU_MEMORYTYPE_UNIFIED;
}

static CUresult submit_copy_2d(CUstream stream, const CUDA_MEMCPY2D *of)
{
    const struct copy_2d what = {
        .target = of->dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)of->dstHost : of->dstDevice,
        .source = of->srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)of->srcHost : of->srcDevice,
        .target_pitch = of->dstPitch,
        .source_pitch = of->srcPitch,
        .width = of->WidthInBytes,
        .height = of->Height,
    };
    fake_counts.copy_2d++;
    if (of->srcXInBytes || of->srcY || of->dstXInBytes || of->dstY || !of->WidthInBytes || !of->Height)
        return CUDA_ERROR_NOT_SUPPORTED; /* the library uses none of these */
    if (!is_of_type(of->dstMemoryType, what.target) || !is_of_type(of->srcMemoryType, what.source) ||
        what.target_pitch < what.width || what.target_pitch > INT32_MAX || what.source_pitch < what.width ||
        what.source_pitch > INT32_MAX || !fake_will_reach(stream, what.target, span(what.target_pitch, &what)) ||
        !fake_will_reach(stream, what.source, span(what.source_pitch, &what)))
        return CUDA_ERROR_INVALID_VALUE;
    struct copy_2d *copy = fake_submit(stream, run_copy_2d, sizeof *copy);
    const struct fake_work work = copy->work;
    *copy = what;
    copy->work = work;
    return CUDA_SUCCESS;
}

CUresult fake_cuMemcpy2DAsync(const CUDA_MEMCPY2D *of, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    return fake_end(submit_copy_2d(stream, of));
}

CUresult fake_cuMemcpy2D(const CUDA_MEMCPY2D *of)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    TRY(fake_unsafe());
    TRY(fake_implicit(context, 1));
    TRY(submit_copy_2d(&context->legacy, of));
    fake_drain(&context->legacy, context->legacy.submitted);
    return fake_end(fake_failed(context));
}

struct fill {
    struct fake_work work;
    CUdeviceptr target;
    unsigned char value;
    size_t bytes;
};

static void run_fill(CUcontext context, struct fake_work *work)
{
    const struct fill *fill = (const struct fill *)work;
    void *to = fake_reach(fill->target, fill->bytes);
    if (to)
        memset(to, fill->value, fill->bytes);
    else
        fake_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
}

CUresult fake_cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    if (bytes && (!find(target) || !fake_will_reach(stream, target, bytes)))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    if (bytes) {
        struct fill *fill = fake_submit(stream, run_fill, sizeof *fill);
        fill->target = target;
        fill->value = value;
        fill->bytes = bytes;
    }
    return fake_end(CUDA_SUCCESS);
}

/* ---- Symbols ---- */

/* Zero at first: what initial values the image has is not known here. */
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
        CUresult result = add(context, *symbol->host_bytes, FAKE_GLOBAL, &allocation);
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
        char *host = *global->symbol->host;
        for (size_t i = 0; i < global->size; i++) {
            char byte = host[i];
            host[i] = global->memory[i];
            global->memory[i] = byte;
        }
    }
}
