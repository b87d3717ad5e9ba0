/* shutdown.c - the end of it all: cf_shutdown(), and a shared object that is closed without. */
#include <stdlib.h>

#include <cuferry.h>

#include "process/shutdown.h"

#include "base/error.h"
#include "base/fast.h"
#include "base/log.h"
#include "threads/pool.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "trace/trace_end.h"
#include "cpu/cpu_stream.h"
#include "context/context.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/inflight.h"
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

/* The latest failure is the one that cf_last_error() has the detail of. */
static void add(int *status, int other)
{
    if (other != CF_OK)
        *status = other;
}

/* Whether a context is known to be gone, with all that was in it; others may have destroyed theirs. */
static int is_gone(const struct cf__context *context)
{
    unsigned long long id;
    CUresult result = context->driver->cuCtxGetId(context->handle, &id);
    return context->is_lost || (result == CUDA_SUCCESS ? id != context->id : cf__is_gone(result));
}

/* A context that cannot be entered is given the calls all the same: what fails is kept, and tried again. */
static void free_stages(void)
{
    struct cf__context *context = NULL;
    while ((context = cf__context_next(context)) != NULL) {
        struct cf__scope scope = {.driver = context->driver, .context = context->handle};
        int is_there = context->staging && !is_gone(context);
        int is_entered =
            is_there && cf__enter_context(&scope, "cf_shutdown", context->driver, context->handle) == CF_OK;
        cf__staging_free(context, is_there ? &scope : NULL);
        if (is_entered)
            cf__leave(&scope);
    }
}

/* What fails stays, and the rest goes on. */
static int give_back(void)
{
    const struct cf__driver *cuda = cf__cuda_in_use();
    int status = CF_OK, mode = cuda ? cf__relax(cuda) : -1; /* another library may be capturing */
    cf__trace_close();
    add(&status, cf__peers_disable(cuda));
    free_stages();
    add(&status, cf__scratch_cache_free(cuda));
    add(&status, cf__deferred_free_retry()); /* before the pools that it may be of */
    add(&status, cf__mempools_destroy(cuda));
    add(&status, cf__images_unload(cuda));
    cf__unrelax(cuda, mode);
    return status;
}

/* In a child: what is the parent's stays as it is. */
static void forget(void)
{
    for (int device = 0; device < CF__MAX_DEVICES; device++)
        cf__peers_forget(device);
    cf__scratch_cache_forget_all();
    cf__mempools_forget();
    cf__deferred_free_forget(NULL);
    (void)cf__images_unload(NULL);
}

static int shut_down(void)
{
    int status = CF_OK;
    if (cf__is_forked())
        forget();
    else
        status = give_back();
    cf__captures_forget(NULL);
    cf__contexts_forget();
    cf__machine_forget();
    cf__tuning_forget();
    cf__handles_forget();
    cf__allocation_forget();
    cf__deferred_free_end();
    cf__drivers_lock();
    add(&status, cf__drivers_release(status != CF_OK));
    cf__drivers_unlock();
    cf__cpu_reset();
    return status;
}

int cf_shutdown(void)
{
    if (cf__log_is_inside())
        return cf__fail(CF_EINVAL, "cf_shutdown: called from the callback of cf_set_log()");
    int status = shut_down();
    if (status == CF_OK)
        cf__log(CF_LOG_INFO, "everything was given back");
    return status;
}

/* ---- Of the program, or of the shared object that holds the library ---- */

/* At the end of the process nothing is given back: other threads may be inside, work may go on for ever, the driver may
 * be gone already, and all goes with the process. Functions given to atexit() are called before any destructor then,
 * and where a shared object is closed behind its destructors: so these tell the one from the other. */
static int is_exiting;

static void note_exit(void)
{
    is_exiting = 1;
}

static void drop_buffers(struct cf__context *context)
{
    cf__staging_free(context, NULL);
}

static void end_context(CUcontext context, int device)
{
    if (device >= 0)
        cf__peers_forget(device);
    cf__captures_forget(context);
}

/* Before constructors of the program, which may call the library. */
__attribute__((constructor(101))) static void start(void)
{
    cf__context_observer = (struct cf__context_events){.dropped = drop_buffers,
                                                       .ended = end_context,
                                                       .lost = cf__scratch_cache_lose,
                                                       .stream_ends = cf__scratch_drop,
                                                       .wait_begins = cf__scratch_cache_now,
                                                       .waited = cf__scratch_cache_done};
    (void)atexit(note_exit);
    cf__inflight_start();
    cf__fork_start();
}

int cf__was_used;

/* Another thread that holds a lock may wait for the dynamic linker's, which this one has: then nothing is given back,
 * but no code may be called either once it is gone, by a thread's end, by a fork or in a thread of the library's
 * own. */
__attribute__((destructor)) static void end(void)
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
