/* shutdown.c - ends the library: cf_shutdown(), and the unloading of a shared object without it. */
#include <stdlib.h>

#include <cuferry.h>

#include "process/shutdown.h"

#include "base/error.h"
#include "base/fast.h"
#include "base/log.h"
#include "threads/limited.h"
#include "threads/pool.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "trace/trace_end.h"
#include "cpu/cpu_stream.h"
#include "context/context.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "stream/capture.h"
#include "staging/buffers.h"
#include "memory/allocation_cache.h"
#include "memory/mempool.h"
#include "memory/peer.h"
#include "memory/scratch_reclaim.h"
#include "kernel/image.h"
#include "kernel/tuning.h"
#include "call/machine.h"
#include "process/fork.h"

/* Adds a status to those of earlier steps. The latest failure counts, because cf_last_error() returns its text. */
static void add_status(int *status, int other)
{
    if (other != CF_OK)
        *status = other;
}

/* Frees the staging sets of all contexts. In a context that cannot be entered, the frees fail and are deferred. */
static void free_staging_sets(void)
{
    struct cf__context *context = NULL;
    while ((context = cf__context_next(context)) != NULL) {
        struct cf__scope scope = {.driver = context->driver, .context = context->handle};
        int exists = context->staging && !cf__context_is_gone(context);
        int is_entered = exists && cf__enter_context(&scope, "cf_shutdown", context->driver, context->handle) == CF_OK;
        cf__staging_free(context, exists ? &scope : NULL);
        if (is_entered)
            cf__leave(&scope);
    }
}

/* Frees all resources, and continues if one of them cannot be freed. */
static int free_all(void)
{
    const struct cf__driver *cuda = cf__cuda_in_use();
    int status = CF_OK, mode = cuda ? cf__capture_relax(cuda) : -1; /* another library may be capturing */
    cf__trace_close();
    add_status(&status, cf__peers_disable(cuda));
    free_staging_sets();
    add_status(&status, cf__reclaim_all(cuda));
    add_status(&status, cf__deferred_free_retry()); /* before the pools that own the memory */
    add_status(&status, cf__mempools_destroy(cuda));
    add_status(&status, cf__images_unload(cuda));
    cf__capture_restore(cuda, mode);
    return status;
}

/* In a forked child, forgets the resources, which remain the parent's. */
static void forget_all(void)
{
    for (int device = 0; device < CF__MAX_DEVICES; device++)
        cf__peers_forget(device);
    cf__reclaim_forget_all();
    cf__mempools_forget();
    cf__deferred_free_forget(NULL);
    (void)cf__images_unload(NULL);
}

static int shut_down(void)
{
    int status = CF_OK;
    if (cf__is_forked())
        forget_all();
    else
        status = free_all();
    cf__captures_forget(NULL);
    cf__contexts_forget();
    cf__machine_forget();
    cf__tuning_forget();
    cf__handles_forget();
    cf__allocation_forget();
    cf__drivers_lock();
    add_status(&status, cf__drivers_release(status != CF_OK));
    cf__drivers_unlock();
    cf__cpu_reset();
    return status;
}

int cf_shutdown(void)
{
    if (cf__log_is_inside())
        return cf__fail(CF_EINVAL, "cf_shutdown: called from the callback of cf_set_log()");
    cf__limited_wait();
    int status = shut_down();
    if (status == CF_OK)
        cf__log(CF_LOG_INFO, "everything was given back");
    return status;
}

/* ---- Start and end of the program, or of the shared object that holds the library ---- */

/* 1 at the end of the process. Nothing is freed then, because other threads may still use the library, work in flight
 * may never end, and the driver may be unloaded. An atexit() function sets the flag: at the end of the process it runs
 * before the destructors, and when a shared object is closed, after them. */
static int is_exiting;

static void note_exit(void)
{
    is_exiting = 1;
}

static void free_context_staging(struct cf__context *context)
{
    cf__staging_free(context, NULL);
}

static void forget_context(CUcontext context, int device)
{
    if (device >= 0)
        cf__peers_forget(device);
    cf__captures_forget(context);
}

/* Runs before the program's own constructors, which may call the library. */
__attribute__((constructor(101))) static void start_library(void)
{
    cf__context_observer = (struct cf__context_events){.record_dropped = free_context_staging,
                                                       .lost_context_gone = forget_context,
                                                       .lost_context_retired = cf__reclaim_lose,
                                                       .stream_ends = cf__reclaim_stream,
                                                       .wait_begins = cf__reclaim_launch_count,
                                                       .wait_succeeded = cf__reclaim_note_wait};
    (void)atexit(note_exit);
    cf__inflight_start();
    cf__fork_start();
}

int cf__was_used;

/* If another thread holds the library's lock, frees nothing: that thread may be waiting for the dynamic linker's lock,
 * which this thread holds. Even then, removes what would call unloaded code: the fork handlers, the handler of ends of
 * threads, and the worker threads. */
__attribute__((destructor)) static void end_library(void)
{
    if (is_exiting)
        return;
    int is_free = cf__drivers_trylock();
    if (is_free) {
        cf__drivers_unlock();
        cf_set_log(NULL, NULL);
        if (cf__was_used)
            (void)shut_down();
    } else {
        cf__pool_stop();
    }
    cf__cpu_handles_unmap();
    cf__inflight_end(is_free);
    cf__fork_free_page();
}
