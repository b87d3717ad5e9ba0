/* scratch_reclaim.c - frees cached scratch memory: with its stream or context, when memory is short, and at
 * shutdown. */
#include <stdint.h>

#include <cuferry.h>

#include "memory/scratch_reclaim.h"

#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "context/backend.h"
#include "context/enter.h"
#include "context/lost.h"
#include "stream/sync.h"
#include "memory/mempool.h"
#include "memory/scratch_cache.h"

/* ---- Contexts that are gone ---- */

/* Removes the blocks of a context that is gone. Leased blocks are removed only if `is_any`: no thread uses them any
 * more. Pool memory survives its context, even a reset (CUDA 13.0), but not a fault. Its block then becomes an orphan
 * with CF__NO_CONTEXT, which any other context of the device can free. */
static void forget_blocks(unsigned long long context, int is_any, int is_lost)
{
    cf__scratch_lock();
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++) {
        struct cf__scratch_block *block = &cf__scratch_cache.all[i];
        if (!block->is_used || block->context != context || (block->is_leased && !is_any))
            continue;
        if (block->memory && block->is_pooled && !is_lost) {
            block->context = CF__NO_CONTEXT;
            block->is_default = block->is_leased = 0;
            block->is_done = 1;
        } else {
            cf__scratch_remove(block);
        }
    }
    cf__scratch_unlock();
}

static int is_context_gone(const struct cf__driver *driver, CUcontext handle, unsigned long long context)
{
    unsigned long long id;
    CUresult result = driver->cuCtxGetId(handle, &id);
    return result == CUDA_SUCCESS ? id != context : cf__result_is_gone(result);
}

/* Checks one entry of the table, whose context another library may have destroyed. Returns 1 if the entry may be an
 * orphan. */
static int forget_if_gone(unsigned int i, unsigned long long current)
{
    struct cf__scratch_block copy = {.is_used = 0};
    const struct cf__scratch_block *block = &cf__scratch_cache.all[i];
    cf__scratch_lock();
    if (block->is_used && !block->is_leased && block->context != current)
        copy = *block;
    cf__scratch_unlock();
    if (!copy.is_used || copy.context == CF__NO_CONTEXT)
        return copy.is_used;
    if (!is_context_gone(copy.driver, copy.handle, copy.context))
        return 0;
    forget_blocks(copy.context, 0, cf__is_lost(copy.driver, copy.handle));
    return 1;
}

/* ---- Freeing ---- */

/* Ends the lease of a block after an attempt to free its memory. After a failure, the block is kept for another
 * attempt, unless it is an orphan and the result says that its memory no longer exists. */
static void finish_free(struct cf__scratch_block *block, CUresult result)
{
    if (result == CUDA_SUCCESS ||
        (block->context == CF__NO_CONTEXT && (result == CUDA_ERROR_INVALID_VALUE || cf__result_is_gone(result))))
        block->memory = 0;
    cf__scratch_release(block);
}

void cf__reclaim_stream(const struct cf__scope *scope, cf_stream stream)
{
    struct cf__scratch_key key;
    const char *call;
    if (scope->driver->is_cpu || !__atomic_load_n(&cf__scratch_cache.count, __ATOMIC_RELAXED) ||
        scope->driver->cuCtxGetId(scope->context, &key.context) != CUDA_SUCCESS ||
        scope->driver->cuStreamGetId(stream, &key.stream) != CUDA_SUCCESS)
        return;
    cf__scratch_lock();
    struct cf__scratch_block *block = cf__scratch_find(&key);
    if (block && block->is_leased)
        block = NULL;
    if (block)
        block->is_leased = 1;
    cf__scratch_unlock();
    if (block && block->is_pooled)
        finish_free(block, cf__mempool_free_async(scope, stream, block->memory, &call));
    else if (block)
        cf__scratch_release(block);
}

/* Leases the next block of a context and device that can be freed now: no launch uses it, or a free in the order of the
 * default stream comes after its launches. */
static struct cf__scratch_block *lease_next(unsigned long long context, CUdevice device, unsigned int *next)
{
    struct cf__scratch_block *found = NULL;
    cf__scratch_lock();
    for (; *next < CF__SCRATCH_STREAMS && !found; ++*next) {
        struct cf__scratch_block *block = &cf__scratch_cache.all[*next];
        if (block->is_used && !block->is_leased && block->context == context && block->device == device &&
            (block->is_default || block->is_done))
            found = block;
    }
    if (found)
        found->is_leased = 1;
    cf__scratch_unlock();
    return found;
}

/* Frees memory in the order of the default stream. First queries whether a stream that is ordered with the default
 * stream is being captured, because the free would invalidate the capture. */
static CUresult free_in_default(const struct cf__scope *scope, CUdeviceptr memory, const char **call)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    *call = "cuStreamIsCapturing";
    CUresult result = scope->driver->cuStreamIsCapturing(NULL, &capture);
    return result == CUDA_SUCCESS ? cf__mempool_free_async(scope, NULL, memory, call) : result;
}

/* Frees blocks of the scope's context, whose id is `context`, and orphans of `device`. Returns their number and the
 * latest failure. */
static int free_blocks(const struct cf__scope *scope, unsigned long long context, CUdevice device, CUresult *failure,
                       const char **call)
{
    struct cf__scratch_block *block;
    unsigned int next = 0;
    int freed = 0;
    *failure = CUDA_SUCCESS;
    while ((block = lease_next(context, device, &next)) != NULL) {
        const char *freeing = "cuMemFree";
        CUresult result =
            block->is_done ? scope->driver->cuMemFree(block->memory) : free_in_default(scope, block->memory, &freeing);
        finish_free(block, result);
        freed += result == CUDA_SUCCESS;
        if (result != CUDA_SUCCESS) {
            *failure = result;
            *call = freeing;
        }
    }
    return freed;
}

int cf__reclaim_orphans(const struct cf__scope *scope, CUdevice device)
{
    CUresult failure;
    const char *call;
    return free_blocks(scope, CF__NO_CONTEXT, device, &failure, &call);
}

void cf__reclaim_sweep(const struct cf__scope *scope, unsigned long long current)
{
    static unsigned int next; /* table entry to check next; atomic */
    CUdevice device;
    if (!forget_if_gone(__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % CF__SCRATCH_STREAMS, current) ||
        scope->driver->cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return;
    int mode = cf__capture_relax(scope->driver);
    (void)cf__reclaim_orphans(scope, device);
    cf__capture_restore(scope->driver, mode);
}

int cf__reclaim_trim(const struct cf__scope *scope, CUdevice device)
{
    unsigned long long context;
    CUresult failure;
    const char *call;
    if (!__atomic_load_n(&cf__scratch_cache.count, __ATOMIC_RELAXED) ||
        scope->driver->cuCtxGetId(scope->context, &context) != CUDA_SUCCESS)
        return 0;
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++)
        (void)forget_if_gone(i, context);
    return free_blocks(scope, context, device, &failure, &call) + cf__reclaim_orphans(scope, device) > 0;
}

uint64_t cf__reclaim_launch_count(void)
{
    cf__scratch_lock();
    uint64_t launches = cf__scratch_cache.launches;
    cf__scratch_unlock();
    return launches;
}

void cf__reclaim_note_wait(CUcontext context, uint64_t launches)
{
    cf__scratch_lock();
    for (unsigned int i = 0; cf__scratch_cache.count && i < CF__SCRATCH_STREAMS; i++) {
        struct cf__scratch_block *block = &cf__scratch_cache.all[i];
        if (block->is_used && !block->is_leased && block->handle == context && block->latest <= launches)
            block->is_done = 1;
    }
    cf__scratch_unlock();
}

/* ---- The end ---- */

static int has_blocks(unsigned long long context)
{
    int is_any = 0;
    cf__scratch_lock();
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++)
        is_any |= cf__scratch_cache.all[i].is_used && cf__scratch_cache.all[i].context == context;
    cf__scratch_unlock();
    return is_any;
}

/* Frees all blocks of the scope's context. First waits for the device, because other streams may be running or
 * destroyed. */
static int free_context(const struct cf__scope *scope, unsigned long long context, CUdevice device)
{
    const char *call;
    CUresult result;
    (void)free_blocks(scope, context, device, &result, &call);
    if (!has_blocks(context))
        return CF_OK;
    int status = cf__sync_context("cf_shutdown", scope, &result);
    if (status != CF_OK)
        return status;
    call = "cuCtxSynchronize";
    if (result == CUDA_SUCCESS)
        (void)free_blocks(scope, context, device, &result, &call);
    if (cf__result_is_gone(result))
        forget_blocks(context, 1, cf__result_status(result) == CF_EFAULT);
    else if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, call, "cf_shutdown: scratch memory");
    return CF_OK;
}

/* Removes the orphans of a device without freeing them. */
static void forget_orphans(CUdevice device)
{
    cf__scratch_lock();
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++) {
        struct cf__scratch_block *block = &cf__scratch_cache.all[i];
        if (block->is_used && block->context == CF__NO_CONTEXT && block->device == device)
            cf__scratch_remove(block);
    }
    cf__scratch_unlock();
}

/* Frees orphans in the primary contexts that the library holds. Other orphans stay allocated until the process ends. */
static void free_all_orphans(const struct cf__driver *cuda)
{
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++) {
        const struct cf__scratch_block *block = &cf__scratch_cache.all[i];
        const CUdevice device = block->device;
        struct cf__scope scope;
        if (!block->is_used || block->context != CF__NO_CONTEXT)
            continue;
        CUcontext primary = cf__primary_held(device);
        if (primary && cf__enter_context(&scope, "cf_shutdown", cuda, primary) == CF_OK) {
            (void)cf__reclaim_orphans(&scope, device);
            cf__leave(&scope);
        }
        forget_orphans(device);
    }
}

/* Frees all blocks; a block whose free fails is kept. */
int cf__reclaim_all(const struct cf__driver *cuda)
{
    int status = CF_OK;
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++) {
        const struct cf__scratch_block *block = &cf__scratch_cache.all[i];
        struct cf__scope scope;
        if (!block->is_used || block->context == CF__NO_CONTEXT)
            continue;
        const int is_lost = cf__is_lost(block->driver, block->handle);
        if (is_lost || is_context_gone(block->driver, block->handle, block->context)) {
            forget_blocks(block->context, 1, is_lost);
            continue;
        }
        int failed = cf__enter_context(&scope, "cf_shutdown", block->driver, block->handle);
        if (failed == CF_OK) {
            failed = free_context(&scope, block->context, block->device);
            cf__leave(&scope);
        }
        if (failed != CF_OK)
            status = failed;
    }
    if (cuda)
        free_all_orphans(cuda);
    return status;
}

void cf__reclaim_forget(unsigned long long context)
{
    forget_blocks(context, 1, 0);
}

void cf__reclaim_lose(unsigned long long context, int device)
{
    forget_blocks(context, 1, 1);
    forget_orphans(device);
}

void cf__reclaim_forget_all(void)
{
    cf__scratch_lock();
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++)
        if (cf__scratch_cache.all[i].is_used)
            cf__scratch_remove(&cf__scratch_cache.all[i]);
    cf__scratch_unlock();
}
