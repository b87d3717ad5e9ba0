/* transfer.c - copies arrays between pageable host memory and a GPU, through pinned buffers that several threads fill
 * or empty.
 *
 * The driver copies pageable memory with one thread, at a fifth of the link's rate. Here all arrays of a call form one
 * queue of bytes, row after row, which is cut into pieces. Each channel is a thread of the pool with two buffers: it
 * fills one buffer while the link copies the other. */
#include <stdint.h>
#include <string.h>

#include <cuferry.h>

#include "staging/transfer.h"

#include "base/bounds.h"
#include "model/rows.h"
#include "threads/pool.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "trace/trace.h"
#include "context/lost.h"
#include "context/scope.h"
#include "staging/buffers.h"

/* With pieces of only 1 MiB, the overhead per copy reduced the rate by a quarter. */
#define MAX_PIECE ((size_t)4 << 20)

/* Number of bytes for which it pays to wake the thread of another channel. */
#define CHANNEL_BYTES ((size_t)256 << 10)

/* Each channel gets several pieces, so that the link starts early. */
#define PIECES_PER_CHANNEL 4

/* Arrays begin at multiples of this in the queue, so that no piece boundary splits an element of 1, 2, 4 or 8 bytes. */
#define QUEUE_ALIGNMENT ((size_t)256)

/* Number of bytes that are checked at a time. They stay in a cache. */
#define CHECK_BYTES ((size_t)128 << 10)

/* ---- Pieces ---- */

/* Arrays that are copied in one direction. */
struct transfer_queue {
    const struct cf__scope *scope;
    struct cf__staging_set *set;
    struct cf__transfer *transfers;
    size_t count;
    int to_host;
    size_t total, piece; /* bytes of the queue; bytes of a piece */
    uint64_t checked;    /* number of pieces up to the last element that has a check */
    uint64_t next;       /* first piece that no channel has taken yet; atomic */
    uint64_t end;        /* number of pieces to copy; atomic */
    int has_failed;      /* set by the thread that fails first, which writes the fields below; atomic */
    CUresult result;
    const char *call;
    const struct cf__transfer *transfer; /* array that the failure concerns; NULL if it concerns none */
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

static int take_piece(struct transfer_queue *queue, uint64_t *piece)
{
    *piece = __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED);
    return *piece < __atomic_load_n(&queue->end, __ATOMIC_RELAXED);
}

/* A run of whole rows, or a part of one row, that is contiguous in a piece. */
struct span {
    char *host;
    CUdeviceptr device;
    size_t length, rows, pitch;
};

/* Returns the span that begins at byte `begin` of an array's elements and has at most `bytes` bytes. */
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

/* Enqueues the copy between the device and a buffer. */
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

/* Copies between host memory and a buffer. */
static void move_span(const struct transfer_queue *queue, const struct span *span, char *buffer)
{
    for (size_t row = 0; row < span->rows; row++) {
        char *host = span->host + row * span->pitch, *staged = buffer + row * span->length;
        memcpy(queue->to_host ? host : staged, queue->to_host ? staged : host, span->length);
    }
}

static void check_elements(struct transfer_queue *queue, struct cf__transfer *transfer, size_t begin, size_t bytes,
                           const char *buffer)
{
    /* After an element out of range, only the pieces with checks still matter: an earlier element may also be out of
     * range. */
    if (!transfer->check(transfer->checks, buffer, begin, bytes) &&
        __atomic_load_n(&queue->end, __ATOMIC_RELAXED) > queue->checked)
        __atomic_store_n(&queue->end, queue->checked, __ATOMIC_RELAXED);
}

enum step { ENQUEUE, MOVE };

/* Performs one step for every array that has bytes in a piece. */
static CUresult process_piece(struct transfer_queue *queue, uint64_t piece, char *buffer, enum step step)
{
    size_t begin = piece * queue->piece;
    size_t end = queue->total - begin < queue->piece ? queue->total : begin + queue->piece;
    CUresult result = CUDA_SUCCESS;
    for (size_t p = 0; p < queue->count && queue->transfers[p].begin < end; p++) {
        struct cf__transfer *transfer = &queue->transfers[p];
        size_t first = begin > transfer->begin ? begin - transfer->begin : 0;
        size_t last = end - transfer->begin < transfer->bytes ? end - transfer->begin : transfer->bytes;
        int has_checks = transfer->checks && !queue->to_host && step == MOVE;
        while (first < last && result == CUDA_SUCCESS) {
            size_t bytes = has_checks && last - first > CHECK_BYTES ? CHECK_BYTES : last - first;
            struct span span = span_at(transfer, first, bytes);
            char *staged = buffer + (transfer->begin + first - begin);
            bytes = span.length * span.rows;
            if (step == ENQUEUE)
                result = enqueue_span(queue, transfer, &span, staged);
            else
                move_span(queue, &span, staged);
            if (has_checks)
                check_elements(queue, transfer, first, bytes, staged);
            first += bytes;
        }
    }
    return result;
}

/* ---- Channels ---- */

static CUresult prepare_buffer(struct transfer_queue *queue, struct cf__buffer *buffer, int is_idle)
{
    const char *call;
    CUresult result = cf__buffer_prepare(queue->scope, buffer, queue->piece, is_idle, &call);
    return result == CUDA_SUCCESS ? result : fail_transfer(queue, result, call, NULL);
}

static CUresult mark_buffer(struct transfer_queue *queue, struct cf__buffer *buffer)
{
    CUresult result = cf__buffer_mark(queue->scope, buffer, queue->set->stream);
    return result == CUDA_SUCCESS ? result : fail_transfer(queue, result, "cuEventRecord", NULL);
}

static void fill_buffers(struct transfer_queue *queue, struct cf__staging_channel *channel)
{
    uint64_t piece;
    for (int b = 0; take_piece(queue, &piece); b = (b + 1) % CF__BUFFERS) {
        struct cf__buffer *buffer = &channel->buffers[b];
        if (prepare_buffer(queue, buffer, 1) != CUDA_SUCCESS)
            return;
        int64_t began = cf__trace_span_begin();
        (void)process_piece(queue, piece, buffer->memory, MOVE);
        cf__trace_span_end(began, "stage", "fill a buffer", NULL);
        if (process_piece(queue, piece, buffer->memory, ENQUEUE) != CUDA_SUCCESS ||
            mark_buffer(queue, buffer) != CUDA_SUCCESS)
            return;
    }
}

static CUresult empty_buffer(struct transfer_queue *queue, uint64_t piece, struct cf__buffer *buffer)
{
    CUresult result = prepare_buffer(queue, buffer, 1);
    int64_t began = cf__trace_span_begin();
    if (result == CUDA_SUCCESS)
        result = process_piece(queue, piece, buffer->memory, MOVE);
    cf__trace_span_end(began, "stage", "empty a buffer", NULL);
    return result;
}

/* Takes pieces and copies them from the device to the host. A later copy may write a buffer that an earlier one still
 * reads; no wait is needed between them, because both are in the same stream. */
static void empty_buffers(struct transfer_queue *queue, struct cf__staging_channel *channel)
{
    uint64_t piece, before = 0;
    struct cf__buffer *full = NULL;
    for (int b = 0; take_piece(queue, &piece); b = (b + 1) % CF__BUFFERS) {
        struct cf__buffer *buffer = &channel->buffers[b];
        if (prepare_buffer(queue, buffer, 0) != CUDA_SUCCESS ||
            process_piece(queue, piece, buffer->memory, ENQUEUE) != CUDA_SUCCESS ||
            mark_buffer(queue, buffer) != CUDA_SUCCESS)
            return;
        if (full && empty_buffer(queue, before, full) != CUDA_SUCCESS)
            return;
        full = buffer;
        before = piece;
    }
    if (full)
        (void)empty_buffer(queue, before, full);
}

static void run_channels(void *data, uint64_t begin, uint64_t end)
{
    struct transfer_queue *queue = data;
    const struct cf__driver *driver = queue->scope->driver;
    CUcontext context;
    CUresult result = driver->cuCtxPushCurrent(queue->scope->context);
    if (result != CUDA_SUCCESS) {
        (void)fail_transfer(queue, result, "cuCtxPushCurrent", NULL);
        return;
    }
    int mode = cf__capture_relax(driver);
    for (uint64_t l = begin; l < end; l++)
        (queue->to_host ? empty_buffers : fill_buffers)(queue, &queue->set->channels[l]);
    cf__capture_restore(driver, mode);
    (void)driver->cuCtxPopCurrent(&context);
}

/* Places the arrays one after another in the queue. Returns the number of channels. */
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
    uint64_t channels = queue->total / CHANNEL_BYTES, threads = (uint64_t)cf__pool_size();
    channels = channels > CF__CHANNELS ? CF__CHANNELS : channels < 1 ? 1 : channels;
    if (channels > threads)
        channels = threads;
    size_t piece = queue->total / channels / PIECES_PER_CHANNEL;
    piece = piece > MAX_PIECE ? MAX_PIECE : piece < CF__MIN_BUFFER ? CF__MIN_BUFFER : piece;
    queue->piece = (piece + CF__MIN_BUFFER - 1) / CF__MIN_BUFFER * CF__MIN_BUFFER;
    queue->end = (queue->total + queue->piece - 1) / queue->piece;
    queue->checked = (checked + queue->piece - 1) / queue->piece;
    return channels;
}

int cf__staging_transfer(const struct cf__scope *scope, struct cf__staging_set *set, const char *function,
                         struct cf__transfer transfers[], size_t count, int to_host)
{
    struct transfer_queue queue = {
        .scope = scope, .set = set, .transfers = transfers, .count = count, .to_host = to_host};
    if (count == 0)
        return CF_OK;
    int64_t began = cf__trace_span_begin();
    uint64_t channels = lay_out(&queue);
    cf__pool_for(run_channels, &queue, channels, 1);
    cf__trace_span_end(began, "stage", to_host ? "stage out" : "stage in",
                       "\"bytes\": %zu, \"channels\": %d, \"piece\": %zu", queue.total, (int)channels, queue.piece);
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
    /* A copy without a stream has to follow the work of the default stream. */
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
