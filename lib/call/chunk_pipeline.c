/* pipeline.c - a call in parts: while the kernel runs on one, later ones are copied in and earlier ones out.
 *
 * What a part has of an array is a chunk. Those of pageable arrays go through pinned buffers that lanes fill and empty,
 * each run by a thread of the pool: a lane enqueues a copy out where a part has run, fills a buffer meanwhile for a part
 * that has not, and then empties what has arrived. Whoever brings a part's last chunk launches it, and all behind it that
 * are complete. Chunks of pinned arrays are enqueued as their part is launched; the streams keep the order. No lane waits
 * for another but where those that it waits for have chunks in hand. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "call/chunk_pipeline.h"

#include "base/error.h"
#include "base/log.h"
#include "threads/pool.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "trace/trace.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "staging/buffers.h"
#include "staging/transfer.h"

struct run {
    const struct cf__chunk_pipeline *of;
    uint64_t parts;
    size_t ins, outs; /* chunks of a part that go through buffers; of those in, one without bytes where there is none */
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    uint64_t next_in, next_out; /* chunks not handed out */
    uint64_t launched;          /* parts */
    uint32_t *arrived;          /* chunks of each part that are on their way in */
    int has_failed;
    CUresult result; /* of `call`, where status is CF_OK */
    const char *call;
    const struct cf__transfer *array; /* NULL: none in particular */
    int status;                       /* of a launch, with `error` */
    struct cf__error error;
};

struct chunk {
    const struct cf__transfer *array; /* NULL: no bytes */
    uint64_t part;
    char *host;
    CUdeviceptr device;
    size_t bytes;
};

/* ---- Failures ---- */

/* With the lock. */
static void stop(struct run *run)
{
    run->has_failed = 1;
    pthread_cond_broadcast(&run->changed);
}

static void fail_locked(struct run *run, CUresult result, const char *call, const struct cf__transfer *array)
{
    if (!run->has_failed) {
        run->result = result;
        run->call = call;
        run->array = array;
    }
    stop(run);
}

static void fail(struct run *run, CUresult result, const char *call, const struct cf__transfer *array)
{
    cf__lock(&run->lock);
    fail_locked(run, result, call, array);
    cf__unlock(&run->lock);
}

static int has_failed(struct run *run)
{
    cf__lock(&run->lock);
    const int has = run->has_failed;
    cf__unlock(&run->lock);
    return has;
}

/* ---- Parts ---- */

static int64_t length_of(const struct cf__chunk_pipeline *of, uint64_t part)
{
    const int64_t left = of->elements - (int64_t)part * of->part;
    return left < of->part ? left : of->part;
}

static struct chunk chunk_of(const struct cf__chunk_pipeline *of, const struct cf__transfer *array, uint64_t part)
{
    const size_t stride = array->bytes / (size_t)of->elements, begin = (size_t)part * (size_t)of->part * stride;
    return (struct chunk){array, part, array->host + begin, array->device + begin,
                          (size_t)length_of(of, part) * stride};
}

static int goes(const struct cf__transfer *array, int to_host)
{
    return to_host ? array->is_out : array->is_in;
}

/* Enqueues the chunks of a part that need no buffers. */
static CUresult copy_pinned(struct run *run, uint64_t part, int to_host, const struct cf__transfer **array)
{
    const struct cf__chunk_pipeline *of = run->of;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < of->count && result == CUDA_SUCCESS; i++) {
        if (!of->arrays[i].is_pinned || !goes(&of->arrays[i], to_host))
            continue;
        *array = &of->arrays[i];
        const struct chunk chunk = chunk_of(of, *array, part);
        const CUdeviceptr host = (uintptr_t)chunk.host;
        result = of->scope->driver->cuMemcpyAsync(to_host ? host : chunk.device, to_host ? chunk.device : host,
                                                  chunk.bytes, to_host ? of->stage->out_stream : of->stage->stream);
    }
    return result;
}

/* Between what comes in and what goes out; of a launch that failed on a thread of the pool the detail is kept. */
static int launch(struct run *run, uint64_t part)
{
    const struct cf__chunk_pipeline *of = run->of;
    struct cf__error before;
    cf__error_save(&before);
    const int status = of->launch(of->data, (int64_t)part * of->part, length_of(of, part));
    if (status != CF_OK) {
        run->status = status;
        cf__error_take(&run->error);
    }
    cf__error_restore(&before);
    return status;
}

/* With the lock, which keeps the parts in order. */
static void launch_part(struct run *run, uint64_t part)
{
    const struct cf__chunk_pipeline *of = run->of;
    const struct cf__driver *driver = of->scope->driver;
    const struct cf__transfer *array = NULL;
    const char *call = "cuMemcpyAsync";
    CUresult result = copy_pinned(run, part, 0, &array);
    if (result == CUDA_SUCCESS) {
        array = NULL;
        result = cf__staging_precede_default(of->scope, of->stage, &call);
    }
    if (result == CUDA_SUCCESS && launch(run, part) != CF_OK) {
        stop(run);
        return;
    }
    if (result == CUDA_SUCCESS) {
        call = "cuEventRecord";
        result = driver->cuEventRecord(of->stage->kernel_done, NULL);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuStreamWaitEvent";
        result = driver->cuStreamWaitEvent(of->stage->out_stream, of->stage->kernel_done, 0);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuMemcpyAsync";
        result = copy_pinned(run, part, 1, &array);
    }
    if (result != CUDA_SUCCESS)
        fail_locked(run, result, call, array);
}

/* A chunk is on its way in: whether parts were launched for it. */
static int arrive(struct run *run, uint64_t part)
{
    cf__lock(&run->lock);
    run->arrived[part]++;
    const uint64_t before = run->launched;
    while (!run->has_failed && run->launched < run->parts && run->arrived[run->launched] == run->ins) {
        launch_part(run, run->launched);
        run->launched += !run->has_failed;
    }
    const int has_launched = run->launched != before;
    if (has_launched)
        pthread_cond_broadcast(&run->changed);
    cf__unlock(&run->lock);
    return has_launched;
}

/* ---- Lanes ---- */

/* The array that chunk number `number` of a part is of. */
static const struct cf__transfer *array_of(const struct run *run, size_t number, int to_host)
{
    const struct cf__chunk_pipeline *of = run->of;
    for (size_t i = 0; i < of->count; i++)
        if (!of->arrays[i].is_pinned && goes(&of->arrays[i], to_host) && number-- == 0)
            return &of->arrays[i];
    return NULL;
}

enum step { OUT, IN, NOTHING, END };

/* What a lane does next that has room for another copy out, and copies out in hand: nothing where these come first. */
static enum step take(struct run *run, int has_room, int is_idle, struct chunk *chunk)
{
    enum step step = NOTHING;
    uint64_t number = 0;
    cf__lock(&run->lock);
    for (;;) {
        if (run->has_failed ||
            (is_idle && run->next_out == run->parts * run->outs && run->next_in == run->parts * run->ins))
            step = END;
        else if (has_room && run->next_out < run->launched * run->outs)
            step = OUT, number = run->next_out++;
        else if (run->next_in < run->parts * run->ins)
            step = IN, number = run->next_in++;
        else if (is_idle) {
            pthread_cond_wait(&run->changed, &run->lock);
            continue;
        }
        break;
    }
    cf__unlock(&run->lock);
    if (step == OUT || step == IN) {
        const size_t of_part = step == OUT ? run->outs : run->ins;
        const struct cf__transfer *array = array_of(run, (size_t)(number % of_part), step == OUT);
        *chunk = array ? chunk_of(run->of, array, number / of_part) : (struct chunk){.part = number / of_part};
    }
    return step;
}

static CUresult bring_in(struct run *run, const struct chunk *chunk, struct cf__buffer *buffer)
{
    const struct cf__chunk_pipeline *of = run->of;
    const char *call;
    CUresult result = cf__buffer_prepare(of->scope, buffer, chunk->bytes, 1, &call);
    if (result == CUDA_SUCCESS) {
        int64_t began = cf__trace_begin();
        memcpy(buffer->memory, chunk->host, chunk->bytes);
        cf__trace_end(began, "stage", "fill a buffer", NULL);
        call = "cuMemcpyAsync";
        result =
            of->scope->driver->cuMemcpyAsync(chunk->device, (uintptr_t)buffer->memory, chunk->bytes, of->stage->stream);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuEventRecord";
        result = cf__buffer_mark(of->scope, buffer, of->stage->stream);
    }
    if (result != CUDA_SUCCESS)
        fail(run, result, call, chunk->array);
    return result;
}

static CUresult begin_out(struct run *run, const struct chunk *chunk, struct cf__buffer *buffer)
{
    const struct cf__chunk_pipeline *of = run->of;
    const char *call;
    CUresult result = cf__buffer_prepare(of->scope, buffer, chunk->bytes, 0, &call);
    if (result == CUDA_SUCCESS) {
        call = "cuMemcpyAsync";
        result = of->scope->driver->cuMemcpyAsync((uintptr_t)buffer->memory, chunk->device, chunk->bytes,
                                                  of->stage->out_stream);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuEventRecord";
        result = cf__buffer_mark(of->scope, buffer, of->stage->out_stream);
    }
    if (result != CUDA_SUCCESS)
        fail(run, result, call, chunk->array);
    return result;
}

static CUresult end_out(struct run *run, const struct chunk *chunk, struct cf__buffer *buffer)
{
    const char *call;
    CUresult result = cf__buffer_prepare(run->of->scope, buffer, chunk->bytes, 1, &call);
    if (result != CUDA_SUCCESS) {
        fail(run, result, call, chunk->array);
        return result;
    }
    int64_t began = cf__trace_begin();
    memcpy(chunk->host, buffer->memory, chunk->bytes);
    cf__trace_end(began, "stage", "empty a buffer", NULL);
    return result;
}

/* What this thread has launched is done, and no longer to be named where another kernel faults. */
static void wait_for_launches(struct run *run)
{
    const struct cf__chunk_pipeline *of = run->of;
    CUresult result = of->scope->driver->cuEventSynchronize(of->stage->kernel_done);
    if (result == CUDA_SUCCESS)
        cf__inflight_waited(of->scope, NULL);
    else
        fail(run, result, "cuEventSynchronize", NULL);
}

static void run_lane(struct run *run, struct cf__staging_lane *lane)
{
    const struct cf__driver *driver = run->of->scope->driver;
    struct chunk out[CF__BUFFERS], chunk; /* out: that are on their way, in a ring */
    unsigned int ins = 0, begun = 0, ended = 0;
    int has_launched = 0;
    for (;;) {
        const int has_out = begun != ended;
        struct cf__buffer *oldest = &lane->out_buffers[ended % CF__BUFFERS];
        const CUresult has_come = has_out ? driver->cuEventQuery(oldest->copied) : CUDA_ERROR_NOT_READY;
        if (has_come != CUDA_SUCCESS && has_come != CUDA_ERROR_NOT_READY) {
            fail(run, has_come, "cuEventQuery", out[ended % CF__BUFFERS].array);
            return;
        }
        enum step step = has_come == CUDA_SUCCESS ? NOTHING : take(run, begun - ended < CF__BUFFERS, !has_out, &chunk);
        if (step == END) {
            if (has_launched && !has_failed(run))
                wait_for_launches(run);
            return;
        }
        if (step == NOTHING) {
            if (end_out(run, &out[ended % CF__BUFFERS], oldest) != CUDA_SUCCESS)
                return;
            ended++;
        } else if (step == OUT) {
            if (begin_out(run, &chunk, &lane->out_buffers[begun % CF__BUFFERS]) != CUDA_SUCCESS)
                return;
            out[begun++ % CF__BUFFERS] = chunk;
        } else {
            if (chunk.array && bring_in(run, &chunk, &lane->buffers[ins++ % CF__BUFFERS]) != CUDA_SUCCESS)
                return;
            has_launched |= arrive(run, chunk.part);
        }
    }
}

static void run_lanes(void *data, uint64_t begin, uint64_t end)
{
    struct run *run = data;
    const struct cf__driver *driver = run->of->scope->driver;
    CUcontext context;
    CUresult result = driver->cuCtxPushCurrent(run->of->scope->context);
    if (result != CUDA_SUCCESS) {
        fail(run, result, "cuCtxPushCurrent", NULL);
        return;
    }
    int mode = cf__relax(driver);
    for (uint64_t l = begin; l < end; l++)
        run_lane(run, &run->of->stage->lanes[l]);
    cf__unrelax(driver, mode);
    (void)driver->cuCtxPopCurrent(&context);
}

/* ---- The call ---- */

/* Pinned memory may still be written by what the default stream holds. */
static CUresult begin(const struct cf__chunk_pipeline *of, const char **call)
{
    *call = "cuStreamCreate";
    CUresult result = cf__staging_add_out_stream(of->scope, of->stage);
    return result == CUDA_SUCCESS ? cf__staging_follow_default(of->scope, of->stage, call) : result;
}

static uint64_t count_chunks(struct run *run)
{
    const struct cf__chunk_pipeline *of = run->of;
    for (size_t i = 0; i < of->count; i++) {
        run->ins += !of->arrays[i].is_pinned && of->arrays[i].is_in;
        run->outs += !of->arrays[i].is_pinned && of->arrays[i].is_out;
    }
    uint64_t lanes = run->parts * (run->ins + run->outs), threads = (uint64_t)cf__pool_size();
    run->ins += run->ins == 0;
    lanes = lanes < 1 ? 1 : lanes > CF__MAX_LANES ? CF__MAX_LANES : lanes;
    return lanes < threads ? lanes : threads;
}

static int end(struct run *run)
{
    const struct cf__chunk_pipeline *of = run->of;
    const char *name = run->array ? run->array->name : NULL;
    if (!run->has_failed) {
        run->call = "cuStreamSynchronize";
        run->result = of->scope->driver->cuStreamSynchronize(of->stage->out_stream);
        if (run->result == CUDA_SUCCESS)
            return CF_OK;
    }
    int status;
    if (run->status != CF_OK)
        status = cf__fail_as(run->status, &run->error);
    else if (cf__status_of(run->result) == CF_EFAULT) /* the kernel's, whatever call told of it */
        status = cf__fail_driver(of->scope->driver, run->result, run->call, "%s", of->function);
    else
        status = cf__fail_driver(of->scope->driver, run->result, run->call, "%s: staging%s%s", of->function,
                                 name ? " " : "", name ? name : "");
    (void)of->scope->driver->cuStreamSynchronize(NULL); /* the kernel's memory is about to be freed */
    cf__staging_drain(of->scope, of->stage);
    return status;
}

int cf__chunk_pipeline_run(const struct cf__chunk_pipeline *pipeline)
{
    struct run run = {.of = pipeline, .parts = (uint64_t)((pipeline->elements - 1) / pipeline->part + 1)};
    run.arrived = calloc((size_t)run.parts, sizeof *run.arrived);
    if (!run.arrived)
        return cf__fail(CF_ENOMEM, "%s: no memory for staging", pipeline->function);
    CUresult result = begin(pipeline, &run.call);
    if (result != CUDA_SUCCESS) {
        free(run.arrived);
        return cf__fail_driver(pipeline->scope->driver, result, run.call, "%s: staging", pipeline->function);
    }
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    int64_t began = cf__trace_begin();
    uint64_t lanes = count_chunks(&run);
    cf__pool_for(run_lanes, &run, lanes, 1);
    cf__trace_end(began, "stage", "stage in parts", "\"parts\": %zu, \"lanes\": %d", (size_t)run.parts, (int)lanes);
    int status = end(&run);
    /* These say that nothing was done, and have a tuned kernel's first variant begin anew. */
    if (run.launched && (status == CF_EINVAL || status == CF_EOVERFLOW))
        status = CF_ECALL;
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    free(run.arrived);
    return status;
}
