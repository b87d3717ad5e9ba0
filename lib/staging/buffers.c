/* buffers.c - manages a context's pinned memory: sets of buffers with a stream, for copies of host arrays, and cells
 * for the results of element checks. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <cuferry.h>

#include "staging/buffers.h"

#include "base/error.h"
#include "base/lock.h"
#include "threads/pool.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/lost.h"

/* Number of sets in a context. A call waits until one is free. With two sets, one call copies in while another call's
 * kernel runs. */
#define SETS 2

/* Copies of fewer bytes are faster with the driver's own copy, which reaches 10 GB/s and wakes no thread. */
#define WORTH_BYTES ((size_t)512 << 10)

/* A block of pinned cells for element checks, linked in the list of free blocks. */
struct cells {
    uint64_t cells[CF__CELLS];
    struct cells *next;
    struct cf__staging_sets *owner;
};

struct cf__staging_sets {
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    struct cf__staging_set sets[SETS];
    struct cells *cells; /* list of free blocks */
};

/* ---- Staging of a context ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock for the creation of a context's sets */

static int get_sets(const struct cf__scope *scope, const char *function, struct cf__staging_sets **sets)
{
    struct cf__context *context;
    int status = cf__scope_context(scope, function, &context);
    if (status != CF_OK)
        return status;
    *sets = __atomic_load_n(&context->staging, __ATOMIC_ACQUIRE);
    if (*sets)
        return CF_OK;
    cf__lock(&lock);
    *sets = context->staging;
    if (!*sets && (*sets = calloc(1, sizeof **sets)) != NULL) {
        pthread_mutex_init(&(*sets)->lock, NULL);
        pthread_cond_init(&(*sets)->given_back, NULL);
        for (int s = 0; s < SETS; s++)
            (*sets)->sets[s].owner = *sets;
        __atomic_store_n(&context->staging, *sets, __ATOMIC_RELEASE);
    }
    cf__unlock(&lock);
    return *sets ? CF_OK : cf__fail(CF_ENOMEM, "%s: no memory for staging", function);
}

static CUresult destroy_event(const struct cf__driver *driver, uintptr_t event)
{
    return driver->cuEventDestroy((CUevent)event);
}

static CUresult destroy_stream(const struct cf__driver *driver, uintptr_t stream)
{
    return driver->cuStreamDestroy((CUstream)stream);
}

static void free_buffer(const struct cf__scope *scope, const struct cf__buffer *buffer)
{
    cf__free_or_defer(scope->driver, scope->context, cf__free_pinned, (uintptr_t)buffer->memory);
    cf__free_or_defer(scope->driver, scope->context, destroy_event, (uintptr_t)buffer->copied);
}

static CUresult synchronize_streams(const struct cf__scope *scope, struct cf__staging_set *set)
{
    CUresult result = set->stream ? scope->driver->cuStreamSynchronize(set->stream) : CUDA_SUCCESS;
    CUresult out_result = set->out_stream ? scope->driver->cuStreamSynchronize(set->out_stream) : CUDA_SUCCESS;
    return result != CUDA_SUCCESS ? result : out_result;
}

void cf__staging_drain(const struct cf__scope *scope, struct cf__staging_set *set)
{
    set->has_stray_copies = synchronize_streams(scope, set) != CUDA_SUCCESS;
}

static void free_set(const struct cf__scope *scope, struct cf__staging_set *set)
{
    cf__staging_drain(scope, set); /* a copy may still be using a buffer */
    for (int l = 0; l < CF__MAX_CHANNELS; l++)
        for (int b = 0; b < CF__BUFFERS; b++) {
            free_buffer(scope, &set->channels[l].buffers[b]);
            free_buffer(scope, &set->channels[l].out_buffers[b]);
        }
    cf__free_or_defer(scope->driver, scope->context, destroy_event, (uintptr_t)set->copied_in);
    cf__free_or_defer(scope->driver, scope->context, destroy_event, (uintptr_t)set->kernel_done);
    cf__free_or_defer(scope->driver, scope->context, destroy_stream, (uintptr_t)set->stream);
    cf__free_or_defer(scope->driver, scope->context, destroy_stream, (uintptr_t)set->out_stream);
}

void cf__staging_free(struct cf__context *context, const struct cf__scope *scope)
{
    struct cf__staging_sets *sets = context->staging;
    if (!sets)
        return;
    context->staging = NULL;
    for (int s = 0; scope && s < SETS; s++)
        free_set(scope, &sets->sets[s]);
    for (struct cells *cells = sets->cells, *next; scope && cells; cells = next) {
        next = cells->next;
        cf__free_or_defer(scope->driver, scope->context, cf__free_pinned, (uintptr_t)cells);
    }
    pthread_mutex_destroy(&sets->lock);
    pthread_cond_destroy(&sets->given_back);
    free(sets);
}

void cf__staging_lock(void)
{
    cf__lock(&lock);
}

void cf__staging_unlock(void)
{
    cf__unlock(&lock);
}

/* ---- Cells ---- */

int cf__cells_acquire(const struct cf__scope *scope, const char *function, uint64_t **cells)
{
    struct cf__staging_sets *sets;
    int status = get_sets(scope, function, &sets);
    if (status != CF_OK)
        return status;
    cf__lock(&sets->lock);
    struct cells *taken = sets->cells;
    if (taken)
        sets->cells = taken->next;
    cf__unlock(&sets->lock);
    if (!taken) {
        int mode = cf__capture_relax(scope->driver);
        void *memory = NULL;
        CUresult result = scope->driver->cuMemHostAlloc(&memory, sizeof *taken, CU_MEMHOSTALLOC_PORTABLE);
        cf__capture_restore(scope->driver, mode);
        if (result != CUDA_SUCCESS)
            return cf__fail_driver(scope->driver, result, "cuMemHostAlloc", "%s: checking elements", function);
        taken = memory;
        taken->owner = sets;
    }
    *cells = taken->cells;
    return CF_OK;
}

void cf__cells_release(uint64_t *cells)
{
    struct cells *given = (struct cells *)(void *)cells;
    struct cf__staging_sets *sets = given->owner;
    cf__lock(&sets->lock);
    given->next = sets->cells;
    sets->cells = given;
    cf__unlock(&sets->lock);
}

/* ---- Sets ---- */

static struct cf__staging_set *find_free_set(struct cf__staging_sets *sets)
{
    for (int s = 0; s < SETS; s++)
        if (!sets->sets[s].is_used)
            return &sets->sets[s];
    return NULL;
}

static struct cf__staging_set *wait_for_set(struct cf__staging_sets *sets)
{
    struct cf__staging_set *found;
    cf__lock(&sets->lock);
    while (!(found = find_free_set(sets)))
        pthread_cond_wait(&sets->given_back, &sets->lock);
    found->is_used = 1;
    cf__unlock(&sets->lock);
    return found;
}

/* Creates the set's stream and events, unless they exist. */
static CUresult equip_set(const struct cf__scope *scope, struct cf__staging_set *set, const char **call)
{
    const struct cf__driver *driver = scope->driver;
    CUresult result = CUDA_SUCCESS;
    *call = "cuStreamCreate";
    if (!set->stream)
        result = driver->cuStreamCreate(&set->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) {
        set->stream = NULL;
        return result;
    }
    *call = "cuEventCreate";
    CUevent *const events[] = {&set->copied_in, &set->kernel_done};
    for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++)
        if (!*events[i] && (result = driver->cuEventCreate(events[i], CU_EVENT_DISABLE_TIMING)) != CUDA_SUCCESS)
            *events[i] = NULL;
    if (result == CUDA_SUCCESS && set->has_stray_copies) {
        *call = "cuStreamSynchronize";
        result = synchronize_streams(scope, set);
        set->has_stray_copies = result != CUDA_SUCCESS;
    }
    return result;
}

CUresult cf__staging_add_out_stream(const struct cf__scope *scope, struct cf__staging_set *set)
{
    CUresult result =
        set->out_stream ? CUDA_SUCCESS : scope->driver->cuStreamCreate(&set->out_stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        set->out_stream = NULL;
    return result;
}

int cf__staging_acquire(const struct cf__scope *scope, const char *function, struct cf__staging_set **set)
{
    struct cf__staging_sets *sets;
    const char *call;
    int status = cf__pool_ready();
    if (status == CF_OK)
        status = get_sets(scope, function, &sets);
    if (status != CF_OK)
        return status;
    *set = wait_for_set(sets);
    CUresult result = equip_set(scope, *set, &call);
    if (result == CUDA_SUCCESS)
        return CF_OK;
    status = cf__fail_driver(scope->driver, result, call, "%s: staging", function);
    cf__staging_release(*set);
    return status;
}

void cf__staging_release(struct cf__staging_set *set)
{
    struct cf__staging_sets *sets = set->owner;
    cf__lock(&sets->lock);
    set->is_used = 0;
    pthread_cond_signal(&sets->given_back);
    cf__unlock(&sets->lock);
}

int cf__staging_is_worth(size_t bytes)
{
    return bytes >= WORTH_BYTES;
}

/* ---- Order ---- */

CUresult cf__staging_precede_default(const struct cf__scope *scope, struct cf__staging_set *set, const char **call)
{
    *call = "cuEventRecord";
    CUresult result = scope->driver->cuEventRecord(set->copied_in, set->stream);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuStreamWaitEvent";
    return scope->driver->cuStreamWaitEvent(NULL, set->copied_in, 0);
}

CUresult cf__staging_follow_default(const struct cf__scope *scope, struct cf__staging_set *set, const char **call)
{
    *call = "cuEventRecord";
    CUresult result = scope->driver->cuEventRecord(set->kernel_done, NULL);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuStreamWaitEvent";
    return scope->driver->cuStreamWaitEvent(set->stream, set->kernel_done, 0);
}

/* ---- Buffers ---- */

CUresult cf__buffer_prepare(const struct cf__scope *scope, struct cf__buffer *buffer, size_t bytes, int is_idle,
                            const char **call)
{
    const struct cf__driver *driver = scope->driver;
    CUresult result = CUDA_SUCCESS;
    *call = "cuEventCreate";
    if (!buffer->copied && (result = driver->cuEventCreate(&buffer->copied, CU_EVENT_DISABLE_TIMING)) != CUDA_SUCCESS) {
        buffer->copied = NULL;
        return result;
    }
    *call = "cuEventSynchronize";
    if (buffer->is_busy && (is_idle || buffer->size < bytes)) {
        if ((result = driver->cuEventSynchronize(buffer->copied)) != CUDA_SUCCESS)
            return result;
        buffer->is_busy = 0;
    }
    if (buffer->size >= bytes)
        return result;
    cf__free_or_defer(scope->driver, scope->context, cf__free_pinned, (uintptr_t)buffer->memory);
    buffer->memory = NULL;
    buffer->size = 0;
    size_t size = CF__MIN_BUFFER;
    while (size < bytes)
        size *= 2;
    *call = "cuMemHostAlloc";
    if ((result = driver->cuMemHostAlloc(&buffer->memory, size, CU_MEMHOSTALLOC_PORTABLE)) != CUDA_SUCCESS) {
        buffer->memory = NULL;
        return result;
    }
    buffer->size = size;
    return result;
}

CUresult cf__buffer_mark(const struct cf__scope *scope, struct cf__buffer *buffer, CUstream stream)
{
    buffer->is_busy = 1;
    return scope->driver->cuEventRecord(buffer->copied, stream);
}
