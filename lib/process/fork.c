/* fork.c - handles fork(): a child inherits no held lock, and does not use its parent's GPUs. */
#include <pthread.h>

#include "process/fork.h"

#include "base/current_operation.h"
#include "base/fast.h"
#include "base/log.h"
#include "threads/pool.h"
#include "driver/deferred_free.h"
#include "driver/driver_cuda.h"
#include "trace/trace.h"
#include "cpu/driver_cpu.h"
#include "context/context.h"
#include "context/drivers.h"
#include "context/handle.h"
#include "context/inflight.h"
#include "stream/capture.h"
#include "staging/buffers.h"
#include "memory/peer.h"
#include "memory/scratch_cache.h"
#include "kernel/image.h"
#include "kernel/tuning.h"
#include "call/machine.h"

/* ---- Locks ---- */

/* All locks of the library in nesting order. The forking thread takes them, because in the child no other thread exists
 * that could release them. `forget` repairs state in the child, under the lock. Two locks of the trace are not in the
 * list, because a child has no trace and never takes them. */
static const struct {
    void (*lock)(void), (*unlock)(void), (*forget)(void);
} locks[] = {
    {cf__machine_lock, cf__machine_unlock, NULL},
    {cf__drivers_lock, cf__drivers_unlock, NULL},
    {cf__peer_lock, cf__peer_unlock, NULL},
    {cf__image_lock, cf__image_unlock, NULL},
    {cf__tuning_lock, cf__tuning_unlock, NULL},
    {cf__staging_lock, cf__staging_unlock, NULL},
    {cf__contexts_lock, cf__contexts_unlock, NULL},
    {cf__deferred_free_lock, cf__deferred_free_unlock, NULL},
    {cf__scratch_lock, cf__scratch_unlock, NULL},
    {cf__capture_lock, cf__capture_unlock, cf__capture_waits_forget},
    {cf__handles_lock, cf__handles_unlock, NULL},
    {cf__cpu_lock, cf__cpu_unlock, NULL},
    {cf__pool_lock, cf__pool_unlock, cf__pool_forget},
    {cf__driver_search_lock, cf__driver_search_unlock, NULL},
    {cf__inflight_lock, cf__inflight_unlock, cf__inflight_forget_threads},
    {cf__trace_lock, cf__trace_unlock, cf__trace_forget},
    {cf__log_lock, cf__log_unlock, cf__log_forget},
};
enum { LOCKS = sizeof locks / sizeof *locks };

static void before_fork(void)
{
    for (int i = 0; i < LOCKS; i++)
        locks[i].lock();
}

static void after_fork(void)
{
    for (int i = LOCKS; i-- > 0;)
        locks[i].unlock();
}

/* If the callback of cf_set_log() forks, the child is no longer in the call that logged the line. */
static void after_fork_in_child(void)
{
    if (cf__log_is_inside())
        cf__current_operation = NULL;
    cf__fork_wipe_page();
    for (int i = 0; i < LOCKS; i++)
        if (locks[i].forget)
            locks[i].forget();
    after_fork();
}

/* The C library removes these handlers when the shared object that registered them is closed. */
void cf__fork_start(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
