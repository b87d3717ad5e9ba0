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
struct flow {
    const struct cf__scope *scope;
    struct cf__staging_set *stage;
    struct cf__transfer *parts;
    size_t count;
    int to_host;
    size_t total, chunk; /* bytes */
    uint64_t checked;    /* chunks that hold elements with a declared range */
    uint64_t next;       /* first chunk not yet handed out; atomic */
    uint64_t end;        /* chunks that are handed out; atomic */
    int has_failed;      /* atomic; whoever sets it writes what follows */
    CUresult result;
    const char *call;
    const struct cf__transfer *part; /* NULL: none in particular */
};

static CUresult fail(struct flow *flow, CUresult result, const char *call, const struct cf__transfer *part)
{
    int before = 0;
    if (__atomic_compare_exchange_n(&flow->has_failed, &before, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        flow->result = result;
        flow->call = call;
        flow->part = part;
    }
    __atomic_store_n(&flow->end, 0, __ATOMIC_RELAXED);
    return result;
}

static int take_chunk(struct flow *flow, uint64_t *chunk)
{
    *chunk = __atomic_fetch_add(&flow->next, 1, __ATOMIC_RELAXED);
    return *chunk < __atomic_load_n(&flow->end, __ATOMIC_RELAXED);
}

/* Rows, or a part of one, that lie in a chunk without a gap. */
struct run {
    char *host;
    CUdeviceptr device;
    size_t length, rows, pitch;
};

/* The run at byte `begin` of an array's elements, of at most `bytes`. */
static struct run run_at(const struct cf__transfer *part, size_t begin, size_t bytes)
{
    const struct cf__rows *rows = &part->rows;
    size_t row = begin / rows->length, in_row = begin % rows->length;
    size_t of_slice = row % rows->rows;
    size_t offset = cf__slice(rows, row / rows->rows) + of_slice * rows->pitch + in_row;
    struct run run = {part->host + offset, part->device + offset, rows->length - in_row, 1, rows->pitch};
    if (in_row || bytes < rows->length)
        run.length = run.length < bytes ? run.length : bytes;
    else if (bytes / rows->length < rows->rows - of_slice)
        run.rows = bytes / rows->length;
    else
        run.rows = rows->rows - of_slice;
    return run;
}

/* Enqueues the copy between the run on the device and its place in a buffer. */
static CUresult enqueue_run(struct flow *flow, const struct cf__transfer *part, const struct run *run, char *buffer)
{
    const struct cf__driver *driver = flow->scope->driver;
    CUstream stream = flow->stage->stream;
    CUresult result = CUDA_SUCCESS;
    if (run->rows > 1 && run->pitch <= CF__MAX_PITCH) {
        CUDA_MEMCPY2D copy = {.WidthInBytes = run->length, .Height = run->rows};
        copy.srcMemoryType = flow->to_host ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        copy.dstMemoryType = flow->to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        copy.srcPitch = flow->to_host ? run->pitch : run->length;
        copy.dstPitch = flow->to_host ? run->length : run->pitch;
        if (flow->to_host) {
            copy.srcDevice = run->device;
            copy.dstHost = buffer;
        } else {
            copy.srcHost = buffer;
            copy.dstDevice = run->device;
        }
        result = driver->cuMemcpy2DAsync(&copy, stream);
        return result == CUDA_SUCCESS ? result : fail(flow, result, "cuMemcpy2DAsync", part);
    }
    for (size_t row = 0; row < run->rows && result == CUDA_SUCCESS; row++) {
        CUdeviceptr device = run->device + row * run->pitch, here = (uintptr_t)(buffer + row * run->length);
        result =
            driver->cuMemcpyAsync(flow->to_host ? here : device, flow->to_host ? device : here, run->length, stream);
    }
    return result == CUDA_SUCCESS ? result : fail(flow, result, "cuMemcpyAsync", part);
}

/* Moves the run between host memory and its place in a buffer. */
static void move_run(const struct flow *flow, const struct run *run, char *buffer)
{
    for (size_t row = 0; row < run->rows; row++) {
        char *host = run->host + row * run->pitch, *here = buffer + row * run->length;
        memcpy(flow->to_host ? host : here, flow->to_host ? here : host, run->length);
    }
}

/* Looks at elements that have just come into a buffer. */
static void look(struct flow *flow, struct cf__transfer *part, size_t begin, size_t bytes, const char *buffer)
{
    /* The rest is not needed; but checks that come before this one are, and lower elements. */
    if (!part->look(part->checks, buffer, begin, bytes) &&
        __atomic_load_n(&flow->end, __ATOMIC_RELAXED) > flow->checked)
        __atomic_store_n(&flow->end, flow->checked, __ATOMIC_RELAXED);
}

enum step { ENQUEUE, MOVE };

/* One step of all that lies in a chunk. */
static CUresult do_chunk(struct flow *flow, uint64_t chunk, char *buffer, enum step step)
{
    size_t begin = chunk * flow->chunk;
    size_t end = flow->total - begin < flow->chunk ? flow->total : begin + flow->chunk;
    CUresult result = CUDA_SUCCESS;
    for (size_t p = 0; p < flow->count && flow->parts[p].begin < end; p++) {
        struct cf__transfer *part = &flow->parts[p];
        size_t first = begin > part->begin ? begin - part->begin : 0;
        size_t last = end - part->begin < part->bytes ? end - part->begin : part->bytes;
        int looks = part->checks && !flow->to_host && step == MOVE;
        while (first < last && result == CUDA_SUCCESS) {
            size_t bytes = looks && last - first > LOOK_BYTES ? LOOK_BYTES : last - first;
            struct run run = run_at(part, first, bytes);
            char *here = buffer + (part->begin + first - begin);
            bytes = run.length * run.rows;
            if (step == ENQUEUE)
                result = enqueue_run(flow, part, &run, here);
            else
                move_run(flow, &run, here);
            if (looks)
                look(flow, part, first, bytes, here);
            first += bytes;
        }
    }
    return result;
}

/* ---- Lanes ---- */

CUresult cf__buffer_ready(const struct cf__scope *scope, struct cf__buffer *buffer, size_t bytes, int is_idle,
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
    cf__give_back(scope, cf__free_pinned, (uintptr_t)buffer->memory);
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

static CUresult ready(struct flow *flow, struct cf__buffer *buffer, int is_idle)
{
    const char *call;
    CUresult result = cf__buffer_ready(flow->scope, buffer, flow->chunk, is_idle, &call);
    return result == CUDA_SUCCESS ? result : fail(flow, result, call, NULL);
}

static CUresult mark(struct flow *flow, struct cf__buffer *buffer)
{
    CUresult result = cf__buffer_mark(flow->scope, buffer, flow->stage->stream);
    return result == CUDA_SUCCESS ? result : fail(flow, result, "cuEventRecord", NULL);
}

static void fill_buffers(struct flow *flow, struct cf__staging_lane *lane)
{
    uint64_t chunk;
    for (int b = 0; take_chunk(flow, &chunk); b = (b + 1) % CF__BUFFERS) {
        struct cf__buffer *buffer = &lane->buffers[b];
        if (ready(flow, buffer, 1) != CUDA_SUCCESS)
            return;
        int64_t began = cf__trace_begin();
        (void)do_chunk(flow, chunk, buffer->memory, MOVE);
        cf__trace_end(began, "stage", "fill a buffer", NULL);
        if (do_chunk(flow, chunk, buffer->memory, ENQUEUE) != CUDA_SUCCESS || mark(flow, buffer) != CUDA_SUCCESS)
            return;
    }
}

static CUresult empty(struct flow *flow, uint64_t chunk, struct cf__buffer *buffer)
{
    CUresult result = ready(flow, buffer, 1);
    int64_t began = cf__trace_begin();
    if (result == CUDA_SUCCESS)
        result = do_chunk(flow, chunk, buffer->memory, MOVE);
    cf__trace_end(began, "stage", "empty a buffer", NULL);
    return result;
}

/* A buffer that is still read by an earlier copy may be written by a later one: the stream keeps their order. */
static void empty_buffers(struct flow *flow, struct cf__staging_lane *lane)
{
    uint64_t chunk, before = 0;
    struct cf__buffer *full = NULL;
    for (int b = 0; take_chunk(flow, &chunk); b = (b + 1) % CF__BUFFERS) {
        struct cf__buffer *buffer = &lane->buffers[b];
        if (ready(flow, buffer, 0) != CUDA_SUCCESS || do_chunk(flow, chunk, buffer->memory, ENQUEUE) != CUDA_SUCCESS ||
            mark(flow, buffer) != CUDA_SUCCESS)
            return;
        if (full && empty(flow, before, full) != CUDA_SUCCESS)
            return;
        full = buffer;
        before = chunk;
    }
    if (full)
        (void)empty(flow, before, full);
}

static void run_lanes(void *data, uint64_t begin, uint64_t end)
{
    struct flow *flow = data;
    const struct cf__driver *driver = flow->scope->driver;
    CUcontext context;
    CUresult result = driver->cuCtxPushCurrent(flow->scope->context);
    if (result != CUDA_SUCCESS) {
        (void)fail(flow, result, "cuCtxPushCurrent", NULL);
        return;
    }
    int mode = cf__relax(driver);
    for (uint64_t l = begin; l < end; l++)
        (flow->to_host ? empty_buffers : fill_buffers)(flow, &flow->stage->lanes[l]);
    cf__unrelax(driver, mode);
    (void)driver->cuCtxPopCurrent(&context);
}

/* Lays the arrays out behind one another; gives the number of lanes. */
static uint64_t lay_out(struct flow *flow)
{
    size_t checked = 0;
    for (size_t p = 0; p < flow->count; p++) {
        struct cf__transfer *part = &flow->parts[p];
        part->begin = (flow->total + QUEUE_ALIGNMENT - 1) / QUEUE_ALIGNMENT * QUEUE_ALIGNMENT;
        flow->total = part->begin + part->bytes;
        if (part->checks)
            checked = flow->total;
    }
    uint64_t lanes = flow->total / LANE_BYTES, threads = (uint64_t)cf__pool_size();
    lanes = lanes > CF__LANES ? CF__LANES : lanes < 1 ? 1 : lanes;
    if (lanes > threads)
        lanes = threads;
    size_t chunk = flow->total / lanes / CHUNKS_PER_LANE;
    chunk = chunk > MAX_CHUNK ? MAX_CHUNK : chunk < MIN_CHUNK ? MIN_CHUNK : chunk;
    flow->chunk = (chunk + MIN_CHUNK - 1) / MIN_CHUNK * MIN_CHUNK;
    flow->end = (flow->total + flow->chunk - 1) / flow->chunk;
    flow->checked = (checked + flow->chunk - 1) / flow->chunk;
    return lanes;
}

int cf__staging_transfer(const struct cf__scope *scope, struct cf__staging_set *stage, const char *function,
                         struct cf__transfer parts[], size_t count, int to_host)
{
    struct flow flow = {.scope = scope, .stage = stage, .parts = parts, .count = count, .to_host = to_host};
    if (count == 0)
        return CF_OK;
    int64_t began = cf__trace_begin();
    uint64_t lanes = lay_out(&flow);
    cf__pool_for(run_lanes, &flow, lanes, 1);
    cf__trace_end(began, "stage", to_host ? "stage out" : "stage in", "\"bytes\": %zu, \"lanes\": %d, \"chunk\": %zu",
                  flow.total, (int)lanes, flow.chunk);
    if (!flow.has_failed)
        return CF_OK;
    cf__staging_settle(scope, stage);
    if (flow.part)
        return cf__fail_driver(scope->driver, flow.result, flow.call, "%s: staging %s", function, flow.part->name);
    return cf__fail_driver(scope->driver, flow.result, flow.call, "%s: staging", function);
}

int cf__staging_copy(const struct cf__scope *scope, const char *function, void *device, void *host, size_t bytes,
                     int to_host)
{
    struct cf__staging_set *stage;
    struct cf__transfer part = {.name = "memory",
                                .host = host,
                                .device = (uintptr_t)device,
                                .rows = {.length = bytes, .rows = 1, .slices = 1},
                                .bytes = bytes};
    const char *call;
    int status = cf__staging_begin(scope, function, &stage);
    if (status != CF_OK)
        return status;
    /* As a copy without a stream has it: behind what the default stream holds. */
    CUresult result = cf__staging_after(scope, stage, &call);
    if (result == CUDA_SUCCESS)
        status = cf__staging_transfer(scope, stage, function, &part, 1, to_host);
    if (result == CUDA_SUCCESS && status == CF_OK && !to_host) {
        call = "cuStreamSynchronize";
        result = scope->driver->cuStreamSynchronize(stage->stream);
    }
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(scope->driver, result, call, "%s: %zu bytes", function, bytes);
    cf__staging_end(stage);
    return status;
}
