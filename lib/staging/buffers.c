/* stage.c - what a context has for copies of host arrays: sets of pinned buffers with a stream, and cells for
 * searches. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <cuferry.h>

#include "staging/buffers.h"

#include "base/error.h"
#include "base/log.h"
#include "threads/pool.h"
#include "driver/capture_mode.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/lost.h"

/* Calls that copy at once in one context; others wait. With two, one copies in while the other one's kernel runs. */
#define SETS 2

/* Fewer bytes go faster as they are: the driver copies 10 GB/s without any thread to wake. */
#define WORTH_BYTES ((size_t)512 << 10)

/* What is freed of one: its streams, events, and the memory and the event of each buffer. */
#define SET_THINGS (4 + 2 * CF__MAX_LANES * 2 * CF__BUFFERS)

/* Pinned cells for searches, one of a list of those that are free. */
struct cells {
    uint64_t cells[CF__CELLS];
    struct cells *next;
    struct cf__staging_sets *owner;
};

struct cf__staging_sets {
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    struct cf__staging_set sets[SETS];
    struct cells *cells;
    int pageable; /* the device reaches pageable memory; -1: not asked yet; atomic */
};

/* ---- What a context has ---- */

/* Guards the making of a context's stages. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int stages_of(const struct cf__scope *scope, const char *function, struct cf__staging_sets **stages)
{
    struct cf__context *context;
    int status = cf__context_get(scope, function, &context);
    if (status != CF_OK)
        return status;
    *stages = __atomic_load_n(&context->stages, __ATOMIC_ACQUIRE);
    if (*stages)
        return CF_OK;
    cf__lock(&lock);
    *stages = context->stages;
    if (!*stages && cf__deferred_free_reserve(SETS * SET_THINGS) && (*stages = calloc(1, sizeof **stages)) != NULL) {
        pthread_mutex_init(&(*stages)->lock, NULL);
        pthread_cond_init(&(*stages)->given_back, NULL);
        (*stages)->pageable = -1;
        for (int s = 0; s < SETS; s++)
            (*stages)->sets[s].owner = *stages;
        __atomic_store_n(&context->stages, *stages, __ATOMIC_RELEASE);
    }
    cf__unlock(&lock);
    return *stages ? CF_OK : cf__fail(CF_ENOMEM, "%s: no memory for staging", function);
}

CUresult cf__free_memory(const struct cf__driver *driver, uintptr_t memory)
{
    return driver->cuMemFree(memory);
}

CUresult cf__free_pinned(const struct cf__driver *driver, uintptr_t memory)
{
    return driver->cuMemFreeHost((void *)memory);
}

static CUresult destroy_event(const struct cf__driver *driver, uintptr_t event)
{
    return driver->cuEventDestroy((CUevent)event);
}

static CUresult destroy_stream(const struct cf__driver *driver, uintptr_t stream)
{
    return driver->cuStreamDestroy((CUstream)stream);
}

void cf__give_back(const struct cf__scope *scope, CUresult (*free_it)(const struct cf__driver *, uintptr_t),
                   uintptr_t what)
{
    if (what && free_it(scope->driver, what) != CUDA_SUCCESS)
        cf__defer_free(scope->driver, scope->context, free_it, what);
}

static void free_buffer(const struct cf__scope *scope, const struct cf__buffer *buffer)
{
    cf__give_back(scope, cf__free_pinned, (uintptr_t)buffer->memory);
    cf__give_back(scope, destroy_event, (uintptr_t)buffer->copied);
}

static CUresult synchronize(const struct cf__scope *scope, struct cf__staging_set *stage)
{
    CUresult result = stage->stream ? scope->driver->cuStreamSynchronize(stage->stream) : CUDA_SUCCESS;
    CUresult of_back = stage->out_stream ? scope->driver->cuStreamSynchronize(stage->out_stream) : CUDA_SUCCESS;
    return result != CUDA_SUCCESS ? result : of_back;
}

void cf__staging_settle(const struct cf__scope *scope, struct cf__staging_set *stage)
{
    stage->is_unsettled = synchronize(scope, stage) != CUDA_SUCCESS;
}

static void free_set(const struct cf__scope *scope, struct cf__staging_set *stage)
{
    cf__staging_settle(scope, stage); /* a copy may still be in a buffer */
    for (int l = 0; l < CF__MAX_LANES; l++)
        for (int b = 0; b < CF__BUFFERS; b++) {
            free_buffer(scope, &stage->lanes[l].buffers[b]);
            free_buffer(scope, &stage->lanes[l].out_buffers[b]);
        }
    cf__give_back(scope, destroy_event, (uintptr_t)stage->arrived);
    cf__give_back(scope, destroy_event, (uintptr_t)stage->ran);
    cf__give_back(scope, destroy_stream, (uintptr_t)stage->stream);
    cf__give_back(scope, destroy_stream, (uintptr_t)stage->out_stream);
}

/* With a place, which is entered, what the driver has goes too; without, it is gone already. */
void cf__staging_free(struct cf__context *context, const struct cf__scope *scope)
{
    struct cf__staging_sets *stages = context->stages;
    if (!stages)
        return;
    context->stages = NULL;
    for (int s = 0; scope && s < SETS; s++)
        free_set(scope, &stages->sets[s]);
    for (struct cells *cells = stages->cells, *next; scope && cells; cells = next) {
        next = cells->next;
        cf__give_back(scope, cf__free_pinned, (uintptr_t)cells);
    }
    pthread_mutex_destroy(&stages->lock);
    pthread_cond_destroy(&stages->given_back);
    free(stages);
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

int cf__cells_take(const struct cf__scope *scope, const char *function, uint64_t **cells)
{
    struct cf__staging_sets *stages;
    int status = stages_of(scope, function, &stages);
    if (status != CF_OK)
        return status;
    cf__lock(&stages->lock);
    struct cells *taken = stages->cells;
    if (taken)
        stages->cells = taken->next;
    cf__unlock(&stages->lock);
    if (!taken) {
        if (!cf__deferred_free_reserve(1))
            return cf__fail(CF_ENOMEM, "%s: no memory for checking elements", function);
        int mode = cf__relax(scope->driver);
        void *memory = NULL;
        CUresult result = scope->driver->cuMemHostAlloc(&memory, sizeof *taken, CU_MEMHOSTALLOC_PORTABLE);
        cf__unrelax(scope->driver, mode);
        if (result != CUDA_SUCCESS)
            return cf__fail_driver(scope->driver, result, "cuMemHostAlloc", "%s: checking elements", function);
        taken = memory;
        taken->owner = stages;
    }
    *cells = taken->cells;
    return CF_OK;
}

void cf__cells_give(uint64_t *cells)
{
    struct cells *given = (struct cells *)(void *)cells;
    struct cf__staging_sets *stages = given->owner;
    cf__lock(&stages->lock);
    given->next = stages->cells;
    stages->cells = given;
    cf__unlock(&stages->lock);
}

int cf__reaches_pageable(const struct cf__scope *scope, const char *function, int device, int *reaches)
{
    struct cf__staging_sets *stages;
    int status = stages_of(scope, function, &stages);
    if (status != CF_OK)
        return status;
    *reaches = __atomic_load_n(&stages->pageable, __ATOMIC_RELAXED);
    if (*reaches >= 0)
        return CF_OK;
    CUdevice handle;
    CUresult result = scope->driver->cuDeviceGet(&handle, device);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuDeviceGet", "%s: device %d", function, device);
    /* A driver that does not know what is asked for has no such device. */
    result = scope->driver->cuDeviceGetAttribute(reaches, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, handle);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
        return cf__fail_driver(scope->driver, result, "cuDeviceGetAttribute", "%s: device %d", function, device);
    *reaches = result == CUDA_SUCCESS && *reaches == 1;
    __atomic_store_n(&stages->pageable, *reaches, __ATOMIC_RELAXED);
    return CF_OK;
}

/* ---- Sets ---- */

static struct cf__staging_set *take_set(struct cf__staging_sets *stages)
{
    struct cf__staging_set *found = NULL;
    cf__lock(&stages->lock);
    for (;;) {
        for (int s = 0; s < SETS && !found; s++)
            if (!stages->sets[s].in_use)
                found = &stages->sets[s];
        if (found)
            break;
        pthread_cond_wait(&stages->given_back, &stages->lock);
    }
    found->in_use = 1;
    cf__unlock(&stages->lock);
    return found;
}

/* Makes what a set has not got yet. */
static CUresult equip(const struct cf__scope *scope, struct cf__staging_set *stage, const char **call)
{
    const struct cf__driver *driver = scope->driver;
    CUresult result = CUDA_SUCCESS;
    *call = "cuStreamCreate";
    if (!stage->stream)
        result = driver->cuStreamCreate(&stage->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) {
        stage->stream = NULL;
        return result;
    }
    *call = "cuEventCreate";
    CUevent *const events[] = {&stage->arrived, &stage->ran};
    for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++)
        if (!*events[i] && (result = driver->cuEventCreate(events[i], CU_EVENT_DISABLE_TIMING)) != CUDA_SUCCESS)
            *events[i] = NULL;
    if (result == CUDA_SUCCESS && stage->is_unsettled) {
        *call = "cuStreamSynchronize";
        result = synchronize(scope, stage);
        stage->is_unsettled = result != CUDA_SUCCESS;
    }
    return result;
}

CUresult cf__staging_two_ways(const struct cf__scope *scope, struct cf__staging_set *stage)
{
    CUresult result =
        stage->out_stream ? CUDA_SUCCESS : scope->driver->cuStreamCreate(&stage->out_stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        stage->out_stream = NULL;
    return result;
}

int cf__staging_begin(const struct cf__scope *scope, const char *function, struct cf__staging_set **stage)
{
    struct cf__staging_sets *stages;
    const char *call;
    int status = cf__pool_ready();
    if (status == CF_OK)
        status = stages_of(scope, function, &stages);
    if (status != CF_OK)
        return status;
    *stage = take_set(stages);
    CUresult result = equip(scope, *stage, &call);
    if (result == CUDA_SUCCESS)
        return CF_OK;
    status = cf__fail_driver(scope->driver, result, call, "%s: staging", function);
    cf__staging_end(*stage);
    return status;
}

void cf__staging_end(struct cf__staging_set *stage)
{
    struct cf__staging_sets *stages = stage->owner;
    cf__lock(&stages->lock);
    stage->in_use = 0;
    pthread_cond_signal(&stages->given_back);
    cf__unlock(&stages->lock);
}

CUstream cf__staging_stream(const struct cf__staging_set *stage)
{
    return stage->stream;
}

int cf__staging_is_worth(size_t bytes)
{
    return bytes >= WORTH_BYTES;
}

/* ---- Order ---- */

CUresult cf__staging_before(const struct cf__scope *scope, struct cf__staging_set *stage, const char **call)
{
    *call = "cuEventRecord";
    CUresult result = scope->driver->cuEventRecord(stage->arrived, stage->stream);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuStreamWaitEvent";
    return scope->driver->cuStreamWaitEvent(NULL, stage->arrived, 0);
}

CUresult cf__staging_after(const struct cf__scope *scope, struct cf__staging_set *stage, const char **call)
{
    *call = "cuEventRecord";
    CUresult result = scope->driver->cuEventRecord(stage->ran, NULL);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuStreamWaitEvent";
    return scope->driver->cuStreamWaitEvent(stage->stream, stage->ran, 0);
}

CUresult cf__staging_wait(const struct cf__scope *scope, struct cf__staging_set *stage)
{
    return scope->driver->cuEventSynchronize(stage->ran);
}
