/* scratch_cache.c - keeps scratch memory for the launches of each GPU stream, which run one after another.
 *
 * Allocating and freeing for each launch costs a microsecond on the GPU, and several driver calls on the CPU. So the
 * default stream and the streams of cf_stream_create() keep one block each, which their launches use in turn. A thread
 * leases the block while it enqueues a launch; another thread does not wait for it, but allocates memory. Launches on
 * streams of other libraries use the pool, because those libraries destroy streams without notice. */
#include <stdint.h>
#include <string.h>

#include <cuferry.h>

#include "memory/scratch_cache.h"

#include "base/fast.h"
#include "base/lock.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "context/handle.h"
#include "context/lost.h"
#include "context/scope.h"
#include "memory/mempool.h"
#include "memory/scratch_reclaim.h"

enum { LEAST_BYTES = 16384 }; /* size of the smallest block, large enough that blocks rarely grow */

struct cf__scratch_table cf__scratch_cache = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local unsigned int latest_slot;

void cf__scratch_lock(void)
{
    cf__lock(&cf__scratch_cache.lock);
}

void cf__scratch_unlock(void)
{
    cf__unlock(&cf__scratch_cache.lock);
}

/* ---- The table; the caller holds the lock ---- */

static int matches_key(const struct cf__scratch_block *block, const struct cf__scratch_key *key)
{
    return block->stream == key->stream && block->context == key->context && block->is_used;
}

struct cf__scratch_block *cf__scratch_find(const struct cf__scratch_key *key)
{
    if (matches_key(&cf__scratch_cache.all[latest_slot], key))
        return &cf__scratch_cache.all[latest_slot];
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++)
        if (matches_key(&cf__scratch_cache.all[i], key)) {
            latest_slot = i;
            return &cf__scratch_cache.all[i];
        }
    return NULL;
}

void cf__scratch_remove(struct cf__scratch_block *block)
{
    *block = (struct cf__scratch_block){.is_used = 0};
    __atomic_store_n(&cf__scratch_cache.count, cf__scratch_cache.count - 1, __ATOMIC_RELAXED);
}

static struct cf__scratch_block *add_block(const struct cf__scope *scope, const struct cf__scratch_key *key)
{
    for (unsigned int i = 0; cf__scratch_cache.count < CF__SCRATCH_STREAMS && i < CF__SCRATCH_STREAMS; i++)
        if (!cf__scratch_cache.all[i].is_used) {
            cf__scratch_cache.all[i] = (struct cf__scratch_block){.context = key->context,
                                                                  .stream = key->stream,
                                                                  .is_used = 1,
                                                                  .is_default = key->is_default,
                                                                  .driver = scope->driver,
                                                                  .handle = scope->context};
            latest_slot = i;
            __atomic_store_n(&cf__scratch_cache.count, cf__scratch_cache.count + 1, __ATOMIC_RELAXED);
            return &cf__scratch_cache.all[i];
        }
    return NULL;
}

/* ---- Leases ---- */

void cf__scratch_release(struct cf__scratch_block *block)
{
    cf__lock(&cf__scratch_cache.lock);
    block->is_leased = 0;
    if (!block->memory)
        cf__scratch_remove(block);
    cf__unlock(&cf__scratch_cache.lock);
}

static struct cf__scratch_block *lease_block(const struct cf__scope *scope, const struct cf__scratch_key *key)
{
    cf__lock(&cf__scratch_cache.lock);
    struct cf__scratch_block *block = cf__scratch_find(key);
    if (!block)
        block = add_block(scope, key);
    const int is_full = !block;
    if (block && block->is_leased)
        block = NULL;
    if (block)
        block->is_leased = 1;
    cf__unlock(&cf__scratch_cache.lock);
    if (is_full)
        cf__reclaim_sweep(scope, key->context);
    return block;
}

/* Replaces the memory of a leased block by at least `bytes` bytes. If there is no memory, the block keeps its size, and
 * the launch allocates its own memory. */
static int grow_block(const struct cf__scope *scope, const char *function, cf_stream stream,
                      struct cf__scratch_block *block, size_t bytes)
{
    const CUdeviceptr before = block->memory;
    const char *call = "cuCtxGetDevice";
    size_t room = LEAST_BYTES;
    CUdeviceptr memory;
    while (room < bytes)
        room *= 2;
    CUresult result = scope->driver->cuCtxGetDevice(&block->device);
    if (result == CUDA_SUCCESS)
        result = cf__mempool_alloc_async(scope, stream, room, &memory, &call);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && strncmp(call, "cuMemAlloc", 10) == 0)
        return CF_OK;
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, call, "%s: %zu bytes of scratch memory", function, room);
    block->memory = memory;
    block->is_pooled = cf__mempool_exists(block->device);
    block->bytes = room;
    block->is_zero = 0;
    result = before ? cf__mempool_free_async(scope, stream, before, &call) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        return CF_OK;
    cf__defer_free(scope->driver, scope->context, cf__free_memory, (uintptr_t)before);
    return cf__fail_driver(scope->driver, result, call, "%s: scratch memory", function);
}

int cf__scratch_lease_block(const struct cf__scope *scope, const char *function, unsigned long long context,
                            cf_stream stream, size_t bytes, struct cf__scratch_lease *lease)
{
    struct cf__scratch_key key = {.context = context, .is_default = !stream || stream == CU_STREAM_LEGACY};
    lease->block = NULL;
    /* Leases nothing on the CPU, because launches of several threads overlap there even in one stream. Leases nothing
     * with CF_CHECK=1, because checking tools need a separate allocation of the declared size for each array. */
    if (scope->driver->is_cpu || bytes > CF__SCRATCH_BYTES || cf__is_slow_path(CF__SLOW_PATH_POINTERS) ||
        !(key.is_default || cf__handle_serial(CF__STREAM, stream)))
        return CF_OK;
    CUresult result = scope->driver->cuStreamGetId(stream, &key.stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamGetId", "%s", function);
    struct cf__scratch_block *block = lease_block(scope, &key);
    int status = block && block->bytes < bytes ? grow_block(scope, function, stream, block, bytes) : CF_OK;
    if (!block || status != CF_OK || block->bytes < bytes) {
        if (block)
            cf__scratch_release(block);
        return status;
    }
    *lease = (struct cf__scratch_lease){block, block->memory, block->bytes, block->is_zero};
    return CF_OK;
}

void cf__scratch_return(const struct cf__scratch_lease *lease, int is_zero)
{
    struct cf__scratch_block *block = lease->block;
    block->is_zero = is_zero;
    cf__lock(&cf__scratch_cache.lock);
    block->is_done = 0;
    block->latest = ++cf__scratch_cache.launches;
    block->is_leased = 0;
    cf__unlock(&cf__scratch_cache.lock);
}
