/* host_capture.c - capture of the CPU driver's streams: what is recorded, which streams take part, and what breaks
 * it. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/cpu_capture.h"

#include "driver/driver.h"
#include "cpu/cpu_graph.h"
#include "cpu/cpu_stream.h"
#include "cpu/driver_cpu.h"

/* A capture that was begun and not ended; under the lock. */
struct cf__cpu_capture {
    struct cf__cpu_capture *next;
    uint64_t number; /* counts from 1 */
    CUstreamCaptureMode mode;
    pthread_t thread;
    int is_broken;
    struct cf__cpu_handle *origin, *streams; /* that take part */
    struct cf__cpu_graph *graph;
};
static struct cf__cpu_capture *captures;
static uint64_t capture_count;

static _Thread_local CUstreamCaptureMode thread_mode; /* 0: global */

/* ---- Sets of nodes ---- */

static int has_all(const struct cf__cpu_nodes *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!nodes || i / 64 >= nodes->words || !(nodes->bits[i / 64] >> i % 64 & 1))
            return 0;
    return 1;
}

/* Makes room for `words`; 0 where there is no memory. */
static int grow(struct cf__cpu_nodes **nodes, size_t words)
{
    size_t before = *nodes ? (*nodes)->words : 0;
    if (before >= words)
        return 1;
    words = words < 2 * before ? 2 * before : words;
    struct cf__cpu_nodes *larger = realloc(*nodes, sizeof *larger + words * sizeof larger->bits[0]);
    if (!larger)
        return 0;
    memset(larger->bits + before, 0, (words - before) * sizeof larger->bits[0]);
    larger->words = words;
    *nodes = larger;
    return 1;
}

static int unite(struct cf__cpu_nodes **nodes, const struct cf__cpu_nodes *others)
{
    if (!others)
        return 1;
    if (!grow(nodes, others->words))
        return 0;
    for (size_t i = 0; i < others->words; i++)
        (*nodes)->bits[i] |= others->bits[i];
    return 1;
}

static void clear(struct cf__cpu_nodes **nodes)
{
    free(*nodes);
    *nodes = NULL;
}

/* ---- Captures; all of it with the lock ---- */

static CUresult spoil(struct cf__cpu_capture *capture, CUresult result)
{
    if (capture)
        capture->is_broken = 1;
    return result;
}

static void join(struct cf__cpu_capture *capture, struct cf__cpu_handle *stream)
{
    stream->next_captured = capture->streams;
    capture->streams = stream;
    __atomic_store_n(&stream->capture, capture, __ATOMIC_RELEASE);
}

static void leave(struct cf__cpu_handle *stream)
{
    struct cf__cpu_handle **link = &stream->capture->streams;
    while (*link != stream)
        link = &(*link)->next_captured;
    *link = stream->next_captured;
    clear(&stream->nodes);
    __atomic_store_n(&stream->capture, NULL, __ATOMIC_RELEASE);
}

static struct cf__cpu_graph *finish(struct cf__cpu_capture *capture)
{
    struct cf__cpu_graph *graph = capture->graph;
    struct cf__cpu_capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    while (capture->streams)
        leave(capture->streams);
    free(capture);
    return graph;
}

static struct cf__cpu_capture *find_capture(uint64_t number)
{
    struct cf__cpu_capture *capture = captures;
    while (capture && capture->number != number)
        capture = capture->next;
    return capture;
}

static CUresult add(struct cf__cpu_handle *stream, struct cf__cpu_node *node)
{
    struct cf__cpu_capture *capture = stream->capture;
    if (!capture || capture->is_broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    struct cf__cpu_graph *graph = capture->graph;
    if (!grow(&stream->nodes, graph->count / 64 + 1))
        return spoil(capture, CUDA_ERROR_OUT_OF_MEMORY);
    stream->nodes->bits[graph->count / 64] |= (uint64_t)1 << graph->count % 64;
    graph->count++;
    graph->has_memory |= node->is_memory;
    node->next = NULL;
    *graph->last = node;
    graph->last = &node->next;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_capture_add(struct cf__cpu_handle *stream, struct cf__cpu_node *node)
{
    cf__cpu_lock();
    CUresult result = node ? add(stream, node) : spoil(stream->capture, CUDA_ERROR_OUT_OF_MEMORY);
    if (result != CUDA_SUCCESS && node && node->destroy)
        node->destroy(node);
    cf__cpu_unlock();
    if (result != CUDA_SUCCESS)
        free(node);
    return result;
}

CUresult cf__cpu_enqueue(CUstream stream, struct cf__cpu_node *node, size_t size)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    if (!cf__cpu_is_captured(slot))
        return node->run(node);
    struct cf__cpu_node *copy = malloc(size);
    return cf__cpu_capture_add(slot, copy ? memcpy(copy, node, size) : NULL);
}

CUresult cf__cpu_capture_break(struct cf__cpu_handle *stream)
{
    cf__cpu_lock();
    CUresult result = spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    cf__cpu_unlock();
    return result;
}

void cf__cpu_handle_drop(struct cf__cpu_handle *slot)
{
    if (slot->kind == CF__CPU_STREAM && slot->capture && slot->capture->origin == slot)
        cf__cpu_graph_release(finish(slot->capture));
    else if (slot->kind == CF__CPU_STREAM && slot->capture)
        leave(slot); /* what it did and nobody waited for is found at the capture's end */
    if (slot->graph) {
        slot->graph->execs -= slot->kind == CF__CPU_EXEC;
        cf__cpu_graph_release(slot->graph);
    }
    clear(&slot->nodes);
}

static CUresult begin(struct cf__cpu_handle *stream, CUstreamCaptureMode mode)
{
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct cf__cpu_capture *capture = calloc(1, sizeof *capture);
    struct cf__cpu_graph *graph = calloc(1, sizeof *graph);
    if (!capture || !graph) {
        free(capture);
        free(graph);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    graph->owners = 1;
    graph->last = &graph->first;
    *capture = (struct cf__cpu_capture){.next = captures,
                                        .number = ++capture_count,
                                        .mode = mode,
                                        .thread = pthread_self(),
                                        .origin = stream,
                                        .graph = graph};
    captures = capture;
    join(capture, stream);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    if (!slot)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    cf__cpu_lock();
    result = begin(slot, mode);
    cf__cpu_unlock();
    return result;
}

static CUresult drop(struct cf__cpu_capture *capture, CUresult result)
{
    cf__cpu_graph_release(finish(capture));
    return result;
}

/* The graph of a capture that ends. Where that fails it is over as well, unless the stream only takes part in it. */
static CUresult end(struct cf__cpu_handle *stream, struct cf__cpu_graph **graph)
{
    struct cf__cpu_capture *capture = stream->capture;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream)
        return spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return drop(capture, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    CUresult result = capture->is_broken                              ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                      : has_all(stream->nodes, capture->graph->count) ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = finish(capture);
    if (result != CUDA_SUCCESS)
        cf__cpu_graph_release(*graph);
    return result;
}

CUresult cf__cpu_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    struct cf__cpu_handle *slot;
    struct cf__cpu_graph *captured;
    *graph = NULL;
    CUresult result = cf__cpu_stream(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    if (!slot)
        return CUDA_ERROR_ILLEGAL_STATE;
    cf__cpu_lock();
    result = end(slot, &captured);
    cf__cpu_unlock();
    if (result != CUDA_SUCCESS)
        return result;
    *graph = cf__cpu_graph_handle(CF__CPU_GRAPH, captured);
    return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Of what is asked the library needs the number alone. */
CUresult cf__cpu_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                                        const CUgraphNode **nodes, size_t *count)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream(stream, &slot);
    if (graph || nodes || count)
        return CUDA_ERROR_NOT_SUPPORTED;
    cf__cpu_lock();
    const struct cf__cpu_capture *capture = result == CUDA_SUCCESS && slot ? slot->capture : NULL;
    *status = !capture             ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->is_broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                   : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (id && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *id = capture->number;
    cf__cpu_unlock();
    return result;
}

CUresult cf__cpu_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    return cf__cpu_cuStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL);
}

/* Memory of the CPU needs no care while a stream is captured: the mode is kept, and asked by nobody. */
CUresult cf__cpu_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* ---- Events in captures ---- */

CUresult cf__cpu_captured_event(uint64_t number)
{
    cf__cpu_lock();
    CUresult result = find_capture(number) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_ERROR_INVALID_VALUE;
    cf__cpu_unlock();
    return result;
}

static CUresult record(struct cf__cpu_handle *event, struct cf__cpu_handle *stream)
{
    struct cf__cpu_capture *capture = stream ? stream->capture : NULL;
    uint64_t number = capture ? capture->number : 0;
    if (capture && capture->is_broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    clear(&event->nodes);
    if (capture && !unite(&event->nodes, stream->nodes))
        return spoil(capture, CUDA_ERROR_OUT_OF_MEMORY);
    if (!capture) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        __atomic_store_n(&event->time, time ? time : 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&event->captured_in, number, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuEventRecord(CUevent event, CUstream stream)
{
    struct cf__cpu_handle *slot, *mark = cf__cpu_handle_find(event, CF__CPU_EVENT);
    CUresult result = mark ? cf__cpu_stream(stream, &slot) : CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        return result;
    cf__cpu_lock();
    result = record(mark, slot);
    cf__cpu_unlock();
    return result;
}

/* Where event and stream are of one capture, or the event draws the stream into its own. */
static CUresult wait_for(struct cf__cpu_handle *stream, struct cf__cpu_handle *event)
{
    struct cf__cpu_capture *own = stream ? stream->capture : NULL;
    if (!event->captured_in)
        return own ? spoil(own, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : CUDA_SUCCESS;
    struct cf__cpu_capture *capture = find_capture(event->captured_in);
    if (!capture)
        return spoil(own, CUDA_ERROR_CAPTURED_EVENT);
    if (!stream)
        return spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (own && own != capture)
        return spoil(capture, spoil(own, CUDA_ERROR_STREAM_CAPTURE_MERGE));
    if (capture->is_broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!unite(&stream->nodes, event->nodes))
        return spoil(capture, CUDA_ERROR_OUT_OF_MEMORY);
    if (!own)
        join(capture, stream);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    (void)flags;
    struct cf__cpu_handle *slot, *mark = cf__cpu_handle_find(event, CF__CPU_EVENT);
    CUresult result = mark ? cf__cpu_stream(stream, &slot) : CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        return result;
    cf__cpu_lock();
    result = wait_for(slot, mark);
    cf__cpu_unlock();
    return result;
}
