/* reclaim.c - frees the scratch memory that streams keep: with a stream or a context, where memory is short, at the end.
 */
#include <stdint.h>

#include <cuferry.h>

#include "memory/scratch_reclaim.h"

#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "context/enter.h"
#include "context/lost.h"
#include "stream/sync.h"
#include "memory/mempool.h"
#include "memory/orphan.h"
#include "memory/scratch_cache.h"

/* ---- Contexts that are gone ---- */

/* What is taken stays, but where `is_any`: nobody is inside. Memory that is not a pool's went with the context, and so,
 * for all that is known, did what a fault has taken along: its address may be another's by now. */
static void forget(unsigned long long context, int is_any, int is_lost)
{
    cf__scratch_lock();
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++) {
        struct cf__scratch_block *one = &cf__scratch_cache.all[i];
        if (!one->is_used || one->context != context || (one->is_taken && !is_any))
            continue;
        if (one->memory && one->is_pooled && !is_lost)
            cf__orphan_add(one->memory, one->device);
        cf__scratch_remove(one);
    }
    cf__scratch_unlock();
}

static int is_gone(const struct cf__driver *driver, CUcontext handle, unsigned long long context)
{
    unsigned long long id;
    CUresult result = driver->cuCtxGetId(handle, &id);
    return result == CUDA_SUCCESS ? id != context : cf__is_gone(result);
}

/* Another library may have destroyed the context of one. */
static void look_at(unsigned int i, unsigned long long current)
{
    struct cf__scratch_block other = {.is_used = 0};
    const struct cf__scratch_block *one = &cf__scratch_cache.all[i];
    cf__scratch_lock();
    if (one->is_used && !one->is_taken && one->context != current)
        other = *one;
    cf__scratch_unlock();
    if (other.is_used && is_gone(other.driver, other.handle, other.context))
        forget(other.context, 0, cf__is_lost(other.driver, other.handle));
}

void cf__scratch_cache_look(const struct cf__scope *scope, unsigned long long current)
{
    static unsigned int next; /* atomic */
    look_at(__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % CF__SCRATCH_STREAMS, current);
    if (!cf__have_orphans())
        return;
    int mode = cf__relax(scope->driver);
    (void)cf__orphans_free(scope->driver);
    cf__unrelax(scope->driver, mode);
}

/* ---- Freeing ---- */

/* Behind an attempt to free the memory of one that is taken. What could not be freed stays for another. */
static void end_free(struct cf__scratch_block *workspace, CUresult result)
{
    if (result == CUDA_SUCCESS)
        workspace->memory = 0;
    cf__scratch_let_go(workspace);
}

void cf__scratch_drop(const struct cf__scope *scope, cf_stream stream)
{
    struct cf__scratch_key key;
    const char *call;
    if (scope->driver->is_cpu || !__atomic_load_n(&cf__scratch_cache.count, __ATOMIC_RELAXED) ||
        scope->driver->cuCtxGetId(scope->context, &key.context) != CUDA_SUCCESS ||
        scope->driver->cuStreamGetId(stream, &key.stream) != CUDA_SUCCESS)
        return;
    cf__scratch_lock();
    struct cf__scratch_block *workspace = cf__scratch_find(&key);
    if (workspace && workspace->is_taken)
        workspace = NULL;
    if (workspace)
        workspace->is_taken = 1;
    cf__scratch_unlock();
    if (workspace && workspace->is_pooled)
        end_free(workspace, cf__mempool_free_async(scope, stream, workspace->memory, &call));
    else if (workspace)
        cf__scratch_let_go(workspace);
}

/* Takes the next of a context that can be freed behind the work of the default stream, or is known to be done. */
static struct cf__scratch_block *take_next(unsigned long long context, unsigned int *next)
{
    struct cf__scratch_block *taken = NULL;
    cf__scratch_lock();
    for (; *next < CF__SCRATCH_STREAMS && !taken; ++*next) {
        struct cf__scratch_block *one = &cf__scratch_cache.all[*next];
        if (one->is_used && !one->is_taken && one->context == context && (one->is_default || one->is_done))
            taken = one;
    }
    if (taken)
        taken->is_taken = 1;
    cf__scratch_unlock();
    return taken;
}

/* Behind what the default stream has to do so far. It cannot be used while a stream that is ordered with it is captured,
 * which trying would break. */
static CUresult free_in_default(const struct cf__scope *scope, CUdeviceptr memory, const char **call)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    *call = "cuStreamIsCapturing";
    CUresult result = scope->driver->cuStreamIsCapturing(NULL, &capture);
    return result == CUDA_SUCCESS ? cf__mempool_free_async(scope, NULL, memory, call) : result;
}

/* In the context of that id; gives how many went, and the latest failure. */
static int free_done(const struct cf__scope *scope, unsigned long long context, CUresult *failure, const char **call)
{
    struct cf__scratch_block *taken;
    unsigned int next = 0;
    int freed = 0;
    *failure = CUDA_SUCCESS;
    while ((taken = take_next(context, &next)) != NULL) {
        const char *freeing = "cuMemFree";
        CUresult result;
        if (taken->is_done)
            result = scope->driver->cuMemFree(taken->memory);
        else
            result = free_in_default(scope, taken->memory, &freeing);
        end_free(taken, result);
        freed += result == CUDA_SUCCESS;
        if (result != CUDA_SUCCESS) {
            *failure = result;
            *call = freeing;
        }
    }
    return freed;
}

int cf__scratch_cache_trim(const struct cf__scope *scope)
{
    unsigned long long context;
    CUresult failure;
    const char *call;
    const int are_there = __atomic_load_n(&cf__scratch_cache.count, __ATOMIC_RELAXED) > 0;
    if ((!are_there && !cf__have_orphans()) || scope->driver->cuCtxGetId(scope->context, &context) != CUDA_SUCCESS)
        return 0;
    for (unsigned int i = 0; are_there && i < CF__SCRATCH_STREAMS; i++)
        look_at(i, context);
    return free_done(scope, context, &failure, &call) + cf__orphans_free(scope->driver) > 0;
}

uint64_t cf__scratch_cache_now(void)
{
    cf__scratch_lock();
    uint64_t now = cf__scratch_cache.launches;
    cf__scratch_unlock();
    return now;
}

void cf__scratch_cache_done(CUcontext context, uint64_t now)
{
    cf__scratch_lock();
    for (unsigned int i = 0; cf__scratch_cache.count && i < CF__SCRATCH_STREAMS; i++) {
        struct cf__scratch_block *one = &cf__scratch_cache.all[i];
        if (one->is_used && !one->is_taken && one->handle == context && one->latest <= now)
            one->is_done = 1;
    }
    cf__scratch_unlock();
}

/* ---- The end ---- */

static int have_any(unsigned long long context)
{
    int is_any = 0;
    cf__scratch_lock();
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++)
        is_any |= cf__scratch_cache.all[i].is_used && cf__scratch_cache.all[i].context == context;
    cf__scratch_unlock();
    return is_any;
}

/* In the scope's context. Streams that nothing is known of may be at work, or gone. */
static int free_all(const struct cf__scope *scope, unsigned long long context)
{
    const char *call;
    CUresult result;
    (void)free_done(scope, context, &result, &call);
    if (!have_any(context))
        return CF_OK;
    int status = cf__sync_context("cf_shutdown", scope, &result);
    if (status != CF_OK)
        return status;
    call = "cuCtxSynchronize";
    if (result == CUDA_SUCCESS)
        (void)free_done(scope, context, &result, &call);
    if (cf__is_gone(result))
        forget(context, 1, cf__status_of(result) == CF_EFAULT);
    else if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, call, "cf_shutdown: scratch memory");
    return CF_OK;
}

/* What fails stays. */
int cf__scratch_cache_free(const struct cf__driver *cuda)
{
    int status = CF_OK;
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++) {
        const struct cf__scratch_block *one = &cf__scratch_cache.all[i];
        struct cf__scope scope;
        if (!one->is_used)
            continue;
        const int is_lost = cf__is_lost(one->driver, one->handle);
        if (is_lost || is_gone(one->driver, one->handle, one->context)) {
            forget(one->context, 1, is_lost);
            continue;
        }
        int failed = cf__enter_context(&scope, "cf_shutdown", one->driver, one->handle);
        if (failed == CF_OK) {
            failed = free_all(&scope, one->context);
            cf__leave(&scope);
        }
        if (failed != CF_OK)
            status = failed;
    }
    if (cuda)
        cf__orphans_free_all(cuda);
    return status;
}

void cf__scratch_cache_forget(unsigned long long context)
{
    forget(context, 1, 0);
}

void cf__scratch_cache_lose(unsigned long long context, int device)
{
    forget(context, 1, 1);
    cf__orphans_forget(device);
}

void cf__scratch_cache_forget_all(void)
{
    cf__scratch_lock();
    for (unsigned int i = 0; i < CF__SCRATCH_STREAMS; i++)
        if (cf__scratch_cache.all[i].is_used)
            cf__scratch_remove(&cf__scratch_cache.all[i]);
    cf__orphans_forget_all();
    cf__scratch_unlock();
}
