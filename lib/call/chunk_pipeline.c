/* chunk_pipeline.c - runs a call in chunks: while the kernel runs on one chunk, later chunks are copied in and earlier
 * ones are copied out.
 *
 * A chunk has a segment of each array. Segments of pageable arrays go through the pinned buffers of channels, each run
 * by a thread of the pool. A channel enqueues a copy out for a launched chunk, meanwhile fills a buffer for a later
 * chunk, and then empties the buffer into which the copy out has arrived. The channel that copies in the last segment
 * of a chunk launches it, together with later chunks that are complete. Segments of pinned arrays need no channel:
 * their copies are enqueued with the launch of their chunk, and the streams keep the order. A channel waits for another
 * only while that one is processing a segment. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "call/chunk_pipeline.h"

#include "base/error.h"
#include "base/lock.h"
#include "threads/pool.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "driver/failure.h"
#include "trace/trace.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "context/scope.h"
#include "staging/buffers.h"
#include "staging/transfer.h"

/* A running pipeline. */
struct run {
    const struct cf__chunk_pipeline *pipeline;
    uint64_t chunks;
    size_t ins, outs;     /* number of a chunk's segments that go through buffers; `ins` is at least 1, for a segment
                           * without bytes */
    pthread_mutex_t lock; /* lock for the fields below */
    pthread_cond_t changed;
    uint64_t next_in, next_out; /* numbers of the next segments to process */
    uint64_t launched;          /* number of launched chunks */
    uint32_t *arrived;          /* number of segments of each chunk whose copy in was enqueued */
    int has_failed;
    CUresult result; /* result of driver function `call`, if status is CF_OK */
    const char *call;
    const struct cf__transfer *array; /* array that the failure concerns, or NULL */
    int status;                       /* status of a failed launch, which `error` describes */
    struct cf__error error;
};

struct segment {
    const struct cf__transfer *array; /* array of the segment; NULL: no bytes */
    uint64_t chunk;
    char *host;
    CUdeviceptr device;
    size_t bytes;
};

/* ---- Failures ---- */

/* The caller holds the lock. */
static void stop_run(struct run *run)
{
    run->has_failed = 1;
    pthread_cond_broadcast(&run->changed);
}

/* Records the first failure. The caller holds the lock. */
static void fail_locked(struct run *run, CUresult result, const char *call, const struct cf__transfer *array)
{
    if (!run->has_failed) {
        run->result = result;
        run->call = call;
        run->array = array;
    }
    stop_run(run);
}

static void fail_run(struct run *run, CUresult result, const char *call, const struct cf__transfer *array)
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

/* ---- Chunks ---- */

static int64_t get_length(const struct cf__chunk_pipeline *pipeline, uint64_t chunk)
{
    const int64_t left = pipeline->elements - (int64_t)chunk * pipeline->chunk_length;
    return left < pipeline->chunk_length ? left : pipeline->chunk_length;
}

static struct segment get_segment(const struct cf__chunk_pipeline *pipeline, const struct cf__transfer *array,
                                  uint64_t chunk)
{
    const size_t stride = array->bytes / (size_t)pipeline->elements;
    const size_t begin = (size_t)chunk * (size_t)pipeline->chunk_length * stride;
    return (struct segment){array, chunk, array->host + begin, array->device + begin,
                            (size_t)get_length(pipeline, chunk) * stride};
}

static int is_copied(const struct cf__transfer *array, int to_host)
{
    return to_host ? array->is_out : array->is_in;
}

/* Enqueues the segments of a chunk that need no buffers. */
static CUresult copy_pinned(struct run *run, uint64_t chunk, int to_host, const struct cf__transfer **array)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < pipeline->count && result == CUDA_SUCCESS; i++) {
        if (!pipeline->arrays[i].is_pinned || !is_copied(&pipeline->arrays[i], to_host))
            continue;
        *array = &pipeline->arrays[i];
        const struct segment segment = get_segment(pipeline, *array, chunk);
        const CUdeviceptr host = (uintptr_t)segment.host;
        result = pipeline->scope->driver->cuMemcpyAsync(to_host ? host : segment.device,
                                                        to_host ? segment.device : host, segment.bytes,
                                                        to_host ? pipeline->set->out_stream : pipeline->set->stream);
    }
    return result;
}

/* Launches a chunk. Saves the detail of a failure for the calling thread, because this runs on threads of the pool. */
static int launch_kernel(struct run *run, uint64_t chunk)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    struct cf__error before;
    cf__error_save(&before);
    const int status =
        pipeline->launch(pipeline->data, (int64_t)chunk * pipeline->chunk_length, get_length(pipeline, chunk));
    if (status != CF_OK) {
        run->status = status;
        cf__error_copy(&run->error);
    }
    cf__error_restore(&before);
    return status;
}

/* Enqueues all steps of a chunk that need no buffer. The caller holds the lock, which keeps the chunks in order. */
static void enqueue_chunk(struct run *run, uint64_t chunk)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    const struct cf__driver *driver = pipeline->scope->driver;
    const struct cf__transfer *array = NULL;
    const char *call = "cuMemcpyAsync";
    CUresult result = copy_pinned(run, chunk, 0, &array);
    if (result == CUDA_SUCCESS) {
        array = NULL;
        result = cf__staging_precede_default(pipeline->scope, pipeline->set, &call);
    }
    if (result == CUDA_SUCCESS && launch_kernel(run, chunk) != CF_OK) {
        stop_run(run);
        return;
    }
    if (result == CUDA_SUCCESS) {
        call = "cuEventRecord";
        result = driver->cuEventRecord(pipeline->set->kernel_done, NULL);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuStreamWaitEvent";
        result = driver->cuStreamWaitEvent(pipeline->set->out_stream, pipeline->set->kernel_done, 0);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuMemcpyAsync";
        result = copy_pinned(run, chunk, 1, &array);
    }
    if (result != CUDA_SUCCESS)
        fail_locked(run, result, call, array);
}

/* Records that the copy in of a segment was enqueued; returns 1 if that launched chunks. */
static int note_arrival(struct run *run, uint64_t chunk)
{
    cf__lock(&run->lock);
    run->arrived[chunk]++;
    const uint64_t before = run->launched;
    while (!run->has_failed && run->launched < run->chunks && run->arrived[run->launched] == run->ins) {
        enqueue_chunk(run, run->launched);
        run->launched += !run->has_failed;
    }
    const int has_launched = run->launched != before;
    if (has_launched)
        pthread_cond_broadcast(&run->changed);
    cf__unlock(&run->lock);
    return has_launched;
}

/* ---- Channels ---- */

/* Returns the array of segment number `number` of a chunk, or NULL for the segment without bytes. */
static const struct cf__transfer *find_array(const struct run *run, size_t number, int to_host)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    for (size_t i = 0; i < pipeline->count; i++)
        if (!pipeline->arrays[i].is_pinned && is_copied(&pipeline->arrays[i], to_host) && number-- == 0)
            return &pipeline->arrays[i];
    return NULL;
}

enum step { OUT, IN, NOTHING, END };

/* Returns the next step of a channel, or NOTHING if the channel has to finish a copy out first. With `has_room`, it has
 * a free buffer for a copy out. With `is_idle`, it has no copy out in flight, so it may wait. */
static enum step take_step(struct run *run, int has_room, int is_idle, struct segment *segment)
{
    enum step step = NOTHING;
    uint64_t number = 0;
    cf__lock(&run->lock);
    for (;;) {
        if (run->has_failed ||
            (is_idle && run->next_out == run->chunks * run->outs && run->next_in == run->chunks * run->ins))
            step = END;
        else if (has_room && run->next_out < run->launched * run->outs)
            step = OUT, number = run->next_out++;
        else if (run->next_in < run->chunks * run->ins)
            step = IN, number = run->next_in++;
        else if (is_idle) {
            pthread_cond_wait(&run->changed, &run->lock);
            continue;
        }
        break;
    }
    cf__unlock(&run->lock);
    if (step == OUT || step == IN) {
        const size_t of_chunk = step == OUT ? run->outs : run->ins;
        const struct cf__transfer *array = find_array(run, (size_t)(number % of_chunk), step == OUT);
        *segment =
            array ? get_segment(run->pipeline, array, number / of_chunk) : (struct segment){.chunk = number / of_chunk};
    }
    return step;
}

static CUresult copy_in(struct run *run, const struct segment *segment, struct cf__buffer *buffer)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    const char *call;
    CUresult result = cf__buffer_prepare(pipeline->scope, buffer, segment->bytes, 1, &call);
    if (result == CUDA_SUCCESS) {
        int64_t began = cf__trace_span_begin();
        memcpy(buffer->memory, segment->host, segment->bytes);
        cf__trace_span_end(began, "stage", "fill a buffer", NULL);
        call = "cuMemcpyAsync";
        result = pipeline->scope->driver->cuMemcpyAsync(segment->device, (uintptr_t)buffer->memory, segment->bytes,
                                                        pipeline->set->stream);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuEventRecord";
        result = cf__buffer_mark(pipeline->scope, buffer, pipeline->set->stream);
    }
    if (result != CUDA_SUCCESS)
        fail_run(run, result, call, segment->array);
    return result;
}

static CUresult begin_copy_out(struct run *run, const struct segment *segment, struct cf__buffer *buffer)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    const char *call;
    CUresult result = cf__buffer_prepare(pipeline->scope, buffer, segment->bytes, 0, &call);
    if (result == CUDA_SUCCESS) {
        call = "cuMemcpyAsync";
        result = pipeline->scope->driver->cuMemcpyAsync((uintptr_t)buffer->memory, segment->device, segment->bytes,
                                                        pipeline->set->out_stream);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuEventRecord";
        result = cf__buffer_mark(pipeline->scope, buffer, pipeline->set->out_stream);
    }
    if (result != CUDA_SUCCESS)
        fail_run(run, result, call, segment->array);
    return result;
}

static CUresult finish_copy_out(struct run *run, const struct segment *segment, struct cf__buffer *buffer)
{
    const char *call;
    CUresult result = cf__buffer_prepare(run->pipeline->scope, buffer, segment->bytes, 1, &call);
    if (result != CUDA_SUCCESS) {
        fail_run(run, result, call, segment->array);
        return result;
    }
    int64_t began = cf__trace_span_begin();
    memcpy(segment->host, buffer->memory, segment->bytes);
    cf__trace_span_end(began, "stage", "empty a buffer", NULL);
    return result;
}

/* Waits for this thread's launches, so that messages about later faults do not name them. */
static void wait_for_launches(struct run *run)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    CUresult result = pipeline->scope->driver->cuEventSynchronize(pipeline->set->kernel_done);
    if (result == CUDA_SUCCESS)
        cf__inflight_waited(pipeline->scope, NULL);
    else
        fail_run(run, result, "cuEventSynchronize", NULL);
}

static void run_channel(struct run *run, struct cf__staging_channel *channel)
{
    const struct cf__driver *driver = run->pipeline->scope->driver;
    struct segment out[CF__BUFFERS], segment; /* out: ring of copies out in flight */
    unsigned int ins = 0, begun = 0, ended = 0;
    int has_launched = 0;
    for (;;) {
        const int has_out = begun != ended;
        struct cf__buffer *oldest = &channel->out_buffers[ended % CF__BUFFERS];
        const CUresult has_come = has_out ? driver->cuEventQuery(oldest->copied) : CUDA_ERROR_NOT_READY;
        if (has_come != CUDA_SUCCESS && has_come != CUDA_ERROR_NOT_READY) {
            fail_run(run, has_come, "cuEventQuery", out[ended % CF__BUFFERS].array);
            return;
        }
        enum step step =
            has_come == CUDA_SUCCESS ? NOTHING : take_step(run, begun - ended < CF__BUFFERS, !has_out, &segment);
        if (step == END) {
            if (has_launched && !has_failed(run))
                wait_for_launches(run);
            return;
        }
        if (step == NOTHING) {
            if (finish_copy_out(run, &out[ended % CF__BUFFERS], oldest) != CUDA_SUCCESS)
                return;
            ended++;
        } else if (step == OUT) {
            if (begin_copy_out(run, &segment, &channel->out_buffers[begun % CF__BUFFERS]) != CUDA_SUCCESS)
                return;
            out[begun++ % CF__BUFFERS] = segment;
        } else {
            if (segment.array && copy_in(run, &segment, &channel->buffers[ins++ % CF__BUFFERS]) != CUDA_SUCCESS)
                return;
            has_launched |= note_arrival(run, segment.chunk);
        }
    }
}

static void run_channels(void *data, uint64_t begin, uint64_t end)
{
    struct run *run = data;
    const struct cf__driver *driver = run->pipeline->scope->driver;
    CUcontext context;
    CUresult result = driver->cuCtxPushCurrent(run->pipeline->scope->context);
    if (result != CUDA_SUCCESS) {
        fail_run(run, result, "cuCtxPushCurrent", NULL);
        return;
    }
    int mode = cf__capture_relax(driver);
    for (uint64_t l = begin; l < end; l++)
        run_channel(run, &run->pipeline->set->channels[l]);
    cf__capture_restore(driver, mode);
    (void)driver->cuCtxPopCurrent(&context);
}

/* ---- The call ---- */

/* Orders the copies after the work of the default stream, which may still be writing pinned memory. */
static CUresult order_streams(const struct cf__chunk_pipeline *pipeline, const char **call)
{
    *call = "cuStreamCreate";
    CUresult result = cf__staging_add_out_stream(pipeline->scope, pipeline->set);
    return result == CUDA_SUCCESS ? cf__staging_follow_default(pipeline->scope, pipeline->set, call) : result;
}

static uint64_t count_segments(struct run *run)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    for (size_t i = 0; i < pipeline->count; i++) {
        run->ins += !pipeline->arrays[i].is_pinned && pipeline->arrays[i].is_in;
        run->outs += !pipeline->arrays[i].is_pinned && pipeline->arrays[i].is_out;
    }
    uint64_t channels = run->chunks * (run->ins + run->outs), threads = (uint64_t)cf__pool_size();
    run->ins += run->ins == 0;
    channels = channels < 1 ? 1 : channels > CF__MAX_CHANNELS ? CF__MAX_CHANNELS : channels;
    return channels < threads ? channels : threads;
}

static int finish_run(struct run *run)
{
    const struct cf__chunk_pipeline *pipeline = run->pipeline;
    const char *name = run->array ? run->array->name : NULL;
    if (!run->has_failed) {
        run->call = "cuStreamSynchronize";
        run->result = pipeline->scope->driver->cuStreamSynchronize(pipeline->set->out_stream);
        if (run->result == CUDA_SUCCESS)
            return CF_OK;
    }
    int status;
    if (run->status != CF_OK)
        status = cf__fail_as(run->status, &run->error);
    else if (cf__result_status(run->result) == CF_EFAULT) /* a kernel's fault, which any driver function may report */
        status = cf__fail_driver(pipeline->scope->driver, run->result, run->call, "%s", pipeline->function);
    else
        status = cf__fail_driver(pipeline->scope->driver, run->result, run->call, "%s: staging%s%s", pipeline->function,
                                 name ? " " : "", name ? name : "");
    (void)pipeline->scope->driver->cuStreamSynchronize(NULL); /* the caller is about to free the kernel's memory */
    cf__staging_drain(pipeline->scope, pipeline->set);
    return status;
}

int cf__chunk_pipeline_run(const struct cf__chunk_pipeline *pipeline)
{
    struct run run = {.pipeline = pipeline,
                      .chunks = (uint64_t)((pipeline->elements - 1) / pipeline->chunk_length + 1)};
    run.arrived = calloc((size_t)run.chunks, sizeof *run.arrived);
    if (!run.arrived)
        return cf__fail(CF_ENOMEM, "%s: no memory for staging", pipeline->function);
    CUresult result = order_streams(pipeline, &run.call);
    if (result != CUDA_SUCCESS) {
        free(run.arrived);
        return cf__fail_driver(pipeline->scope->driver, result, run.call, "%s: staging", pipeline->function);
    }
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    int64_t began = cf__trace_span_begin();
    uint64_t channels = count_segments(&run);
    cf__pool_for(run_channels, &run, channels, 1);
    cf__trace_span_end(began, "stage", "stage in chunks", "\"chunks\": %zu, \"channels\": %d", (size_t)run.chunks,
                       (int)channels);
    int status = finish_run(&run);
    /* CF_EINVAL and CF_EOVERFLOW would mean that nothing was enqueued, and a tuned kernel would run again with its
     * first variant. So they are replaced after a launch. */
    if (run.launched && (status == CF_EINVAL || status == CF_EOVERFLOW))
        status = CF_ECALL;
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    free(run.arrived);
    return status;
}
