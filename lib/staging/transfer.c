/* flow.c - moves arrays between pageable host memory and a GPU, through pinned buffers that several threads fill or
 * empty.
 *
 * The driver copies pageable memory with one thread, at a fifth of what the link carries. Here all arrays of a call
 * form one queue of bytes, each row behind the last, which is cut into chunks. Each lane, run by a thread of the pool,
 * has two buffers: it fills one while the other is on the link. */
#include <stdint.h>
#include <string.h>

#include <cuferry.h>

#include "staging/transfer.h"

#include "base/bounds.h"
#include "threads/pool.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "trace/trace.h"
#include "context/enter.h"
#include "context/lost.h"
#include "staging/buffers.h"
#include "staging/rows.h"

/* With chunks of 1 MiB each copy's overhead cost a quarter of the rate. */
#define MAX_CHUNK ((size_t)4 << 20)
#define MIN_CHUNK ((size_t)128 << 10)

/* Bytes for which another lane is worth waking its thread, and chunks to a lane, so that buffers are on the link
 * early. */
#define LANE_BYTES ((size_t)256 << 10)
#define CHUNKS_PER_LANE 4

/* Where arrays begin in the queue: no element is cut that has a size of 1, 2, 4 or 8 bytes. */
#define QUEUE_ALIGNMENT ((size_t)256)

/* Bytes that are looked at while they are in a cache. */
#define LOOK_BYTES ((size_t)128 << 10)

/* ---- Chunks ---- */

/* The arrays that go one way. */
struct transfer_queue {
    const struct cf__scope *scope;
    struct cf__staging_set *set;
    struct cf__transfer *transfers;
    size_t count;
    int to_host;
    size_t total, chunk; /* bytes */
    uint64_t checked;    /* chunks that hold elements with a declared range */
    uint64_t next;       /* first chunk not yet handed out; atomic */
    uint64_t end;        /* chunks that are handed out; atomic */
    int has_failed;      /* atomic; whoever sets it writes what follows */
    CUresult result;
    const char *call;
    const struct cf__transfer *transfer; /* NULL: none in particular */
};

static CUresult fail_transfer(struct transfer_queue *queue, CUresult result, const char *call,
                              const struct cf__transfer *transfer)
{
    int before = 0;
    if (__atomic_compare_exchange_n(&queue->has_failed, &before, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        queue->result = result;
        queue->call = call;
        queue->transfer = transfer;
    }
    __atomic_store_n(&queue->end, 0, __ATOMIC_RELAXED);
    return result;
}

static int take_chunk(struct transfer_queue *queue, uint64_t *chunk)
{
    *chunk = __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED);
    return *chunk < __atomic_load_n(&queue->end, __ATOMIC_RELAXED);
}

/* Rows, or a part of one, that lie in a chunk without a gap. */
struct span {
    char *host;
    CUdeviceptr device;
    size_t length, rows, pitch;
};

/* The run at byte `begin` of an array's elements, of at most `bytes`. */
static struct span span_at(const struct cf__transfer *transfer, size_t begin, size_t bytes)
{
    const struct cf__rows *rows = &transfer->rows;
    size_t row = begin / rows->length, in_row = begin % rows->length;
    size_t of_slice = row % rows->rows;
    size_t offset = cf__rows_slice_offset(rows, row / rows->rows) + of_slice * rows->pitch + in_row;
    struct span span = {transfer->host + offset, transfer->device + offset, rows->length - in_row, 1, rows->pitch};
    if (in_row || bytes < rows->length)
        span.length = span.length < bytes ? span.length : bytes;
    else if (bytes / rows->length < rows->rows - of_slice)
        span.rows = bytes / rows->length;
    else
        span.rows = rows->rows - of_slice;
    return span;
}

/* Enqueues the copy between the run on the device and its place in a buffer. */
static CUresult enqueue_span(struct transfer_queue *queue, const struct cf__transfer *transfer, const struct span *span,
                             char *buffer)
{
    const struct cf__driver *driver = queue->scope->driver;
    CUstream stream = queue->set->stream;
    CUresult result = CUDA_SUCCESS;
    if (span->rows > 1 && span->pitch <= CF__MAX_PITCH) {
        CUDA_MEMCPY2D copy = {.WidthInBytes = span->length, .Height = span->rows};
        copy.srcMemoryType = queue->to_host ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        copy.dstMemoryType = queue->to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        copy.srcPitch = queue->to_host ? span->pitch : span->length;
        copy.dstPitch = queue->to_host ? span->length : span->pitch;
        if (queue->to_host) {
            copy.srcDevice = span->device;
            copy.dstHost = buffer;
        } else {
            copy.srcHost = buffer;
            copy.dstDevice = span->device;
        }
        result = driver->cuMemcpy2DAsync(&copy, stream);
        return result == CUDA_SUCCESS ? result : fail_transfer(queue, result, "cuMemcpy2DAsync", transfer);
    }
    for (size_t row = 0; row < span->rows && result == CUDA_SUCCESS; row++) {
        CUdeviceptr device = span->device + row * span->pitch, staged = (uintptr_t)(buffer + row * span->length);
        result = driver->cuMemcpyAsync(queue->to_host ? staged : device, queue->to_host ? device : staged, span->length,
                                       stream);
    }
    return result == CUDA_SUCCESS ? result : fail_transfer(queue, result, "cuMemcpyAsync", transfer);
}

/* Moves the run between host memory and its place in a buffer. */
static void move_span(const struct transfer_queue *queue, const struct span *span, char *buffer)
{
    for (size_t row = 0; row < span->rows; row++) {
        char *host = span->host + row * span->pitch, *staged = buffer + row * span->length;
        memcpy(queue->to_host ? host : staged, queue->to_host ? staged : host, span->length);
    }
}

/* Looks at elements that have just come into a buffer. */
static void check_elements(struct transfer_queue *queue, struct cf__transfer *transfer, size_t begin, size_t bytes,
                           const char *buffer)
{
    /* The rest is not needed; but checks that come before this one are, and lower elements. */
    if (!transfer->check(transfer->checks, buffer, begin, bytes) &&
        __atomic_load_n(&queue->end, __ATOMIC_RELAXED) > queue->checked)
        __atomic_store_n(&queue->end, queue->checked, __ATOMIC_RELAXED);
}

enum step { ENQUEUE, MOVE };

/* One step of all that lies in a chunk. */
static CUresult process_chunk(struct transfer_queue *queue, uint64_t chunk, char *buffer, enum step step)
{
    size_t begin = chunk * queue->chunk;
    size_t end = queue->total - begin < queue->chunk ? queue->total : begin + queue->chunk;
    CUresult result = CUDA_SUCCESS;
    for (size_t p = 0; p < queue->count && queue->transfers[p].begin < end; p++) {
        struct cf__transfer *transfer = &queue->transfers[p];
        size_t first = begin > transfer->begin ? begin - transfer->begin : 0;
        size_t last = end - transfer->begin < transfer->bytes ? end - transfer->begin : transfer->bytes;
        int looks = transfer->checks && !queue->to_host && step == MOVE;
        while (first < last && result == CUDA_SUCCESS) {
            size_t bytes = looks && last - first > LOOK_BYTES ? LOOK_BYTES : last - first;
            struct span span = span_at(transfer, first, bytes);
            char *staged = buffer + (transfer->begin + first - begin);
            bytes = span.length * span.rows;
            if (step == ENQUEUE)
                result = enqueue_span(queue, transfer, &span, staged);
            else
                move_span(queue, &span, staged);
            if (looks)
                check_elements(queue, transfer, first, bytes, staged);
            first += bytes;
        }
    }
    return result;
}

/* ---- Lanes ---- */

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
    cf__free_or_defer(scope, cf__free_pinned, (uintptr_t)buffer->memory);
    buffer->memory = NULL;
    buffer->size = 0;
    size_t size = MIN_CHUNK;
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

static CUresult prepare_buffer(struct transfer_queue *queue, struct cf__buffer *buffer, int is_idle)
{
    const char *call;
    CUresult result = cf__buffer_prepare(queue->scope, buffer, queue->chunk, is_idle, &call);
    return result == CUDA_SUCCESS ? result : fail_transfer(queue, result, call, NULL);
}

static CUresult mark_buffer(struct transfer_queue *queue, struct cf__buffer *buffer)
{
    CUresult result = cf__buffer_mark(queue->scope, buffer, queue->set->stream);
    return result == CUDA_SUCCESS ? result : fail_transfer(queue, result, "cuEventRecord", NULL);
}

static void fill_buffers(struct transfer_queue *queue, struct cf__staging_lane *lane)
{
    uint64_t chunk;
    for (int b = 0; take_chunk(queue, &chunk); b = (b + 1) % CF__BUFFERS) {
        struct cf__buffer *buffer = &lane->buffers[b];
        if (prepare_buffer(queue, buffer, 1) != CUDA_SUCCESS)
            return;
        int64_t began = cf__trace_begin();
        (void)process_chunk(queue, chunk, buffer->memory, MOVE);
        cf__trace_end(began, "stage", "fill a buffer", NULL);
        if (process_chunk(queue, chunk, buffer->memory, ENQUEUE) != CUDA_SUCCESS ||
            mark_buffer(queue, buffer) != CUDA_SUCCESS)
            return;
    }
}

static CUresult empty_buffer(struct transfer_queue *queue, uint64_t chunk, struct cf__buffer *buffer)
{
    CUresult result = prepare_buffer(queue, buffer, 1);
    int64_t began = cf__trace_begin();
    if (result == CUDA_SUCCESS)
        result = process_chunk(queue, chunk, buffer->memory, MOVE);
    cf__trace_end(began, "stage", "empty a buffer", NULL);
    return result;
}

/* A buffer that is still read by an earlier copy may be written by a later one: the stream keeps their order. */
static void empty_buffers(struct transfer_queue *queue, struct cf__staging_lane *lane)
{
    uint64_t chunk, before = 0;
    struct cf__buffer *full = NULL;
    for (int b = 0; take_chunk(queue, &chunk); b = (b + 1) % CF__BUFFERS) {
        struct cf__buffer *buffer = &lane->buffers[b];
        if (prepare_buffer(queue, buffer, 0) != CUDA_SUCCESS ||
            process_chunk(queue, chunk, buffer->memory, ENQUEUE) != CUDA_SUCCESS ||
            mark_buffer(queue, buffer) != CUDA_SUCCESS)
            return;
        if (full && empty_buffer(queue, before, full) != CUDA_SUCCESS)
            return;
        full = buffer;
        before = chunk;
    }
    if (full)
        (void)empty_buffer(queue, before, full);
}

static void run_lanes(void *data, uint64_t begin, uint64_t end)
{
    struct transfer_queue *queue = data;
    const struct cf__driver *driver = queue->scope->driver;
    CUcontext context;
    CUresult result = driver->cuCtxPushCurrent(queue->scope->context);
    if (result != CUDA_SUCCESS) {
        (void)fail_transfer(queue, result, "cuCtxPushCurrent", NULL);
        return;
    }
    int mode = cf__relax(driver);
    for (uint64_t l = begin; l < end; l++)
        (queue->to_host ? empty_buffers : fill_buffers)(queue, &queue->set->lanes[l]);
    cf__unrelax(driver, mode);
    (void)driver->cuCtxPopCurrent(&context);
}

/* Lays the arrays out behind one another; gives the number of lanes. */
static uint64_t lay_out(struct transfer_queue *queue)
{
    size_t checked = 0;
    for (size_t p = 0; p < queue->count; p++) {
        struct cf__transfer *transfer = &queue->transfers[p];
        transfer->begin = (queue->total + QUEUE_ALIGNMENT - 1) / QUEUE_ALIGNMENT * QUEUE_ALIGNMENT;
        queue->total = transfer->begin + transfer->bytes;
        if (transfer->checks)
            checked = queue->total;
    }
    uint64_t lanes = queue->total / LANE_BYTES, threads = (uint64_t)cf__pool_size();
    lanes = lanes > CF__LANES ? CF__LANES : lanes < 1 ? 1 : lanes;
    if (lanes > threads)
        lanes = threads;
    size_t chunk = queue->total / lanes / CHUNKS_PER_LANE;
    chunk = chunk > MAX_CHUNK ? MAX_CHUNK : chunk < MIN_CHUNK ? MIN_CHUNK : chunk;
    queue->chunk = (chunk + MIN_CHUNK - 1) / MIN_CHUNK * MIN_CHUNK;
    queue->end = (queue->total + queue->chunk - 1) / queue->chunk;
    queue->checked = (checked + queue->chunk - 1) / queue->chunk;
    return lanes;
}

int cf__staging_transfer(const struct cf__scope *scope, struct cf__staging_set *set, const char *function,
                         struct cf__transfer transfers[], size_t count, int to_host)
{
    struct transfer_queue queue = {
        .scope = scope, .set = set, .transfers = transfers, .count = count, .to_host = to_host};
    if (count == 0)
        return CF_OK;
    int64_t began = cf__trace_begin();
    uint64_t lanes = lay_out(&queue);
    cf__pool_for(run_lanes, &queue, lanes, 1);
    cf__trace_end(began, "stage", to_host ? "stage out" : "stage in", "\"bytes\": %zu, \"lanes\": %d, \"chunk\": %zu",
                  queue.total, (int)lanes, queue.chunk);
    if (!queue.has_failed)
        return CF_OK;
    cf__staging_drain(scope, set);
    if (queue.transfer)
        return cf__fail_driver(scope->driver, queue.result, queue.call, "%s: staging %s", function,
                               queue.transfer->name);
    return cf__fail_driver(scope->driver, queue.result, queue.call, "%s: staging", function);
}

int cf__staging_copy(const struct cf__scope *scope, const char *function, void *device, void *host, size_t bytes,
                     int to_host)
{
    struct cf__staging_set *set;
    struct cf__transfer transfer = {.name = "memory",
                                    .host = host,
                                    .device = (uintptr_t)device,
                                    .rows = {.length = bytes, .rows = 1, .slices = 1},
                                    .bytes = bytes};
    const char *call;
    int status = cf__staging_acquire(scope, function, &set);
    if (status != CF_OK)
        return status;
    /* As a copy without a stream has it: behind what the default stream holds. */
    CUresult result = cf__staging_follow_default(scope, set, &call);
    if (result == CUDA_SUCCESS)
        status = cf__staging_transfer(scope, set, function, &transfer, 1, to_host);
    if (result == CUDA_SUCCESS && status == CF_OK && !to_host) {
        call = "cuStreamSynchronize";
        result = scope->driver->cuStreamSynchronize(set->stream);
    }
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(scope->driver, result, call, "%s: %zu bytes", function, bytes);
    cf__staging_release(set);
    return status;
}
