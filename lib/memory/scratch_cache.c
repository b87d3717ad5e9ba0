/* workspace.c - scratch memory that the launches on a stream of a GPU have at hand, one after the other. */
#include <stdint.h>
#include <string.h>

#include <cuferry.h>

#include "memory/scratch_cache.h"

#include "base/fast.h"
#include "base/log.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/lost.h"
#include "staging/buffers.h"
#include "memory/mempool.h"
#include "memory/scratch_reclaim.h"

/* To allocate before a launch and to free after it costs a GPU a microsecond, and the host some calls of the driver. So
 * the default stream and streams of cf_stream_create() keep the memory of their launches, which the stream's order keeps
 * apart. A thread that finds it taken by another one, which is just enqueueing there, allocates: nobody waits.
 *
 * Other libraries destroy their streams without notice while work goes on: their launches get memory of the pool. */
enum { LEAST_BYTES = 16384 }; /* so that it need not grow often */

struct cf__scratch_table cf__scratch_cache = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local unsigned int found_last;

void cf__scratch_lock(void)
{
    cf__lock(&cf__scratch_cache.lock);
}

void cf__scratch_unlock(void)
{
    cf__unlock(&cf__scratch_cache.lock);
}

/* ---- The table, with the lock ---- */

static int is_of(const struct cf__scratch_block *workspace, const struct cf__scratch_key *key)
{
    return workspace->stream == key->stream && workspace->context == key->context && workspace->is_used;
}

struct cf__scratch_block *cf__scratch_find(const struct cf__scratch_key *key)
{
    if (is_of(&cf__scratch_cache.all[found_last], key))
        return &cf__scratch_cache.all[found_last];
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++)
        if (is_of(&cf__scratch_cache.all[i], key)) {
            found_last = i;
            return &cf__scratch_cache.all[i];
        }
    return NULL;
}

void cf__scratch_remove(struct cf__scratch_block *workspace)
{
    *workspace = (struct cf__scratch_block){.is_used = 0};
    __atomic_store_n(&cf__scratch_cache.count, cf__scratch_cache.count - 1, __ATOMIC_RELAXED);
}

static struct cf__scratch_block *add(const struct cf__scope *scope, const struct cf__scratch_key *key)
{
    for (unsigned int i = 0; cf__scratch_cache.count < CF__SCRATCH_STREAMS && i < CF__SCRATCH_STREAMS; i++)
        if (!cf__scratch_cache.all[i].is_used) {
            cf__scratch_cache.all[i] = (struct cf__scratch_block){.context = key->context,
                                                                  .stream = key->stream,
                                                                  .is_used = 1,
                                                                  .is_default = key->is_default,
                                                                  .driver = scope->driver,
                                                                  .handle = scope->context};
            found_last = i;
            __atomic_store_n(&cf__scratch_cache.count, cf__scratch_cache.count + 1, __ATOMIC_RELAXED);
            return &cf__scratch_cache.all[i];
        }
    return NULL;
}

/* ---- Taking and giving back ---- */

void cf__scratch_let_go(struct cf__scratch_block *workspace)
{
    cf__lock(&cf__scratch_cache.lock);
    workspace->is_taken = 0;
    if (!workspace->memory)
        cf__scratch_remove(workspace);
    cf__unlock(&cf__scratch_cache.lock);
}

static struct cf__scratch_block *take_for(const struct cf__scope *scope, const struct cf__scratch_key *key)
{
    cf__lock(&cf__scratch_cache.lock);
    struct cf__scratch_block *workspace = cf__scratch_find(key);
    if (!workspace)
        workspace = add(scope, key);
    const int is_full = !workspace;
    if (workspace && workspace->is_taken)
        workspace = NULL;
    if (workspace)
        workspace->is_taken = 1;
    cf__unlock(&cf__scratch_cache.lock);
    if (is_full)
        cf__scratch_cache_look(scope, key->context);
    return workspace;
}

/* Where there is no memory for more than is asked for, the launch tries with that. */
static int grow(const struct cf__scope *scope, const char *function, cf_stream stream,
                struct cf__scratch_block *workspace, size_t bytes)
{
    const CUdeviceptr before = workspace->memory;
    const char *call = "cuCtxGetDevice";
    size_t room = LEAST_BYTES;
    CUdeviceptr memory;
    while (room < bytes)
        room *= 2;
    CUresult result = scope->driver->cuCtxGetDevice(&workspace->device);
    if (result == CUDA_SUCCESS)
        result = cf__mempool_alloc_async(scope, stream, room, &memory, &call);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && strncmp(call, "cuMemAlloc", 10) == 0)
        return CF_OK;
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, call, "%s: %zu bytes of scratch memory", function, room);
    workspace->memory = memory;
    workspace->is_pooled = cf__mempool_exists(workspace->device);
    workspace->bytes = room;
    workspace->is_zero = 0;
    result = before ? cf__mempool_free_async(scope, stream, before, &call) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        return CF_OK;
    cf__defer_free(scope->driver, scope->context, cf__free_memory, (uintptr_t)before);
    return cf__fail_driver(scope->driver, result, call, "%s: scratch memory", function);
}

int cf__scratch_take(const struct cf__scope *scope, const char *function, unsigned long long context, cf_stream stream,
                     size_t bytes, struct cf__scratch_lease *taken)
{
    struct cf__scratch_key key = {.context = context, .is_default = !stream || stream == CU_STREAM_LEGACY};
    taken->workspace = NULL;
    /* On the CPU launches of several threads run beside one another in whatever stream. What CF_CHECK=1 looks at, tools
     * look at, too: there arrays lie apart, as long as they are declared. */
    if (scope->driver->is_cpu || bytes > CF__SCRATCH_BYTES || cf__is_slow_path(CF__SLOW_PATH_POINTERS) ||
        !(key.is_default || cf__handle_serial(CF__STREAM, stream)))
        return CF_OK;
    CUresult result = scope->driver->cuStreamGetId(stream, &key.stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamGetId", "%s", function);
    struct cf__scratch_block *workspace = take_for(scope, &key);
    int status = workspace && workspace->bytes < bytes ? grow(scope, function, stream, workspace, bytes) : CF_OK;
    if (!workspace || status != CF_OK || workspace->bytes < bytes) {
        if (workspace)
            cf__scratch_let_go(workspace);
        return status;
    }
    *taken = (struct cf__scratch_lease){workspace, workspace->memory, workspace->bytes, workspace->is_zero};
    return CF_OK;
}

void cf__scratch_give(const struct cf__scratch_lease *taken, int is_zero)
{
    struct cf__scratch_block *workspace = taken->workspace;
    workspace->is_zero = is_zero;
    cf__lock(&cf__scratch_cache.lock);
    workspace->is_done = 0;
    workspace->latest = ++cf__scratch_cache.launches;
    workspace->is_taken = 0;
    cf__unlock(&cf__scratch_cache.lock);
}
