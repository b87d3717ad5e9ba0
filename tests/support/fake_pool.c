/* fake_pool.c - stream-ordered memory of the played GPU, its pools, and the memory of graphs. */
#include <string.h>

#include "fake_libcuda.h"

/* ---- Stream-ordered memory: it exists at once and is freed when the stream reaches the call ---- */

static void run_graph_alloc(CUcontext context, struct fake_work *work);
static void run_graph_free(CUcontext context, struct fake_work *work);
static void run_removal(CUcontext context, struct fake_work *work);

/* Identifies memory by address and number, because when the removal runs the memory may be freed and its address
 * reused. */
struct removal {
    struct fake_work work;
    CUdeviceptr address;
    uint64_t number;
};

static struct fake_allocation *allocation_of(const struct fake_work *work)
{
    const struct removal *removal = (const struct removal *)work;
    struct fake_allocation *allocation = fake_find_allocation(removal->address);
    return allocation && allocation->number == removal->number ? allocation : NULL;
}

static void name(struct removal *removal, const struct fake_allocation *allocation)
{
    removal->address = fake_address(allocation);
    removal->number = allocation->number;
}

static void destroy_node(struct fake_work *work)
{
    struct fake_allocation *allocation = allocation_of(work);
    if (allocation && allocation->owners && --allocation->owners == 0 && !fake_is_of_graph(allocation))
        fake_remove(allocation);
}

static void add_node(CUstream stream, void (*run)(CUcontext context, struct fake_work *work),
                     const struct fake_allocation *allocation)
{
    struct removal *node = fake_submit(stream, run, sizeof *node);
    name(node, allocation);
    node->work.destroy = destroy_node;
}

static void run_graph_alloc(CUcontext context, struct fake_work *work)
{
    struct fake_allocation *allocation = allocation_of(work);
    (void)context;
    allocation->is_there = 1;
    fake_poison(allocation);
}

static void run_graph_free(CUcontext context, struct fake_work *work)
{
    struct fake_allocation *allocation = allocation_of(work);
    (void)context;
    allocation->is_there = 0;
}

/* Refuses a launch if memory that it would allocate is still allocated. Memory that the graph itself frees never is. */
CUresult fake_give_graph_memory(const struct fake_nodes *nodes)
{
    for (int is_checked = 0; nodes->has_memory && is_checked < 2; is_checked++)
        for (struct fake_work *work = nodes->first; work; work = work->next) {
            struct fake_allocation *allocation = NULL;
            if (work->run == run_graph_alloc)
                allocation = allocation_of(work);
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
    add_node(stream, run_graph_alloc, allocation);
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
    add_node(stream, run_graph_free, allocation);
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
    if (pool && bytes) { /* cached memory is used first */
        size_t kept = pool->kept;
        fake_keep(pool, kept > bytes ? kept - bytes : 0);
    }
    result = fake_allocate(stream->object.context, bytes, FAKE_DEVICE_MEMORY, &allocation);
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
    fake_keep(pool, pool->threshold);
}

static void run_removal(CUcontext context, struct fake_work *work)
{
    struct fake_allocation *allocation = allocation_of(work);
    (void)context;
    if (allocation)
        fake_let_go(allocation);
}

/* The graphs may be destroyed before the stream reaches the free, while earlier work still uses their memory. */
static void destroy_graph_removal(struct fake_work *work)
{
    struct fake_allocation *allocation = allocation_of(work);
    if (allocation && --allocation->frees == 0 && !fake_is_of_graph(allocation))
        fake_remove(allocation);
}

CUresult fake_cuMemFreeAsync(CUdeviceptr pointer, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    if (!fake.pools)
        return fake_end(CUDA_ERROR_NOT_SUPPORTED);
    struct fake_allocation *allocation = fake_find_allocation(pointer);
    if (!allocation || allocation->type != FAKE_DEVICE_MEMORY || allocation->is_freed)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    if (stream->capture)
        return fake_end(capture_free(allocation, stream));
    TRY(fake_unsafe());
    if (fake_is_of_graph(allocation) && !allocation->is_given)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    fake_counts.free_async++;
    allocation->is_freed = !fake_is_of_graph(allocation);
    allocation->is_given = 0;
    struct removal *removal = fake_submit(stream, run_removal, sizeof *removal);
    name(removal, allocation);
    if (!allocation->is_freed) {
        allocation->frees++;
        removal->work.destroy = destroy_graph_removal;
    }
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

/* Allocations from the pool remain valid. */
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

/* A device can get access only to memory of a peer that it reaches; it always has access to its own. */
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
    fake_keep(pool, most > pool->used ? most - pool->used : 0);
    return fake_end(CUDA_SUCCESS);
}
