/* cpu_capture.c - captures of the CPU driver's streams: the recorded nodes, the participating streams, and the errors
 * that invalidate a capture. */
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

/* An open capture, protected by the driver's lock. */
struct cf__cpu_capture {
    struct cf__cpu_capture *next;
    uint64_t number; /* number of the capture, from 1 */
    CUstreamCaptureMode mode;
    pthread_t thread;
    int is_broken;
    struct cf__cpu_handle *origin, *streams; /* stream that began the capture; list of participating streams */
    struct cf__cpu_graph *graph;
};
static struct cf__cpu_capture *captures;
static uint64_t capture_count;
static struct cf__cpu_node several; /* value of `latest` after several nodes if none of them follows all the others */

static _Thread_local CUstreamCaptureMode thread_mode; /* capture mode of the thread; 0: global */

/* ---- Sets of nodes ---- */

static int has_all(const struct cf__cpu_node_set *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!nodes || i / 64 >= nodes->words || !(nodes->bits[i / 64] >> i % 64 & 1))
            return 0;
    return 1;
}

/* Makes room for `words`; returns 0 if there is no memory. */
static int grow_set(struct cf__cpu_node_set **nodes, size_t words)
{
    size_t before = *nodes ? (*nodes)->words : 0;
    if (before >= words)
        return 1;
    words = words < 2 * before ? 2 * before : words;
    struct cf__cpu_node_set *larger = realloc(*nodes, sizeof *larger + words * sizeof larger->bits[0]);
    if (!larger)
        return 0;
    memset(larger->bits + before, 0, (words - before) * sizeof larger->bits[0]);
    larger->words = words;
    *nodes = larger;
    return 1;
}

static int merge_sets(struct cf__cpu_node_set **nodes, const struct cf__cpu_node_set *others)
{
    if (!others)
        return 1;
    if (!grow_set(nodes, others->words))
        return 0;
    for (size_t i = 0; i < others->words; i++)
        (*nodes)->bits[i] |= others->bits[i];
    return 1;
}

static void free_set(struct cf__cpu_node_set **nodes)
{
    free(*nodes);
    *nodes = NULL;
}

/* ---- Captures; the caller holds the lock ---- */

static CUresult break_capture(struct cf__cpu_capture *capture, CUresult result)
{
    if (capture)
        capture->is_broken = 1;
    return result;
}

static void join_capture(struct cf__cpu_capture *capture, struct cf__cpu_handle *stream)
{
    stream->next_captured = capture->streams;
    capture->streams = stream;
    __atomic_store_n(&stream->capture, capture, __ATOMIC_RELEASE);
}

static void leave_capture(struct cf__cpu_handle *stream)
{
    struct cf__cpu_handle **link = &stream->capture->streams;
    while (*link != stream)
        link = &(*link)->next_captured;
    *link = stream->next_captured;
    stream->latest = NULL;
    free_set(&stream->nodes);
    __atomic_store_n(&stream->capture, NULL, __ATOMIC_RELEASE);
}

static struct cf__cpu_graph *close_capture(struct cf__cpu_capture *capture)
{
    struct cf__cpu_graph *graph = capture->graph;
    struct cf__cpu_capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    while (capture->streams)
        leave_capture(capture->streams);
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

int cf__cpu_capture_has_node(const struct cf__cpu_node *node)
{
    const struct cf__cpu_capture *capture = captures;
    while (capture && !cf__cpu_graph_has_node(capture->graph, node))
        capture = capture->next;
    return capture != NULL;
}

static CUresult add_node(struct cf__cpu_handle *stream, struct cf__cpu_node *node)
{
    struct cf__cpu_capture *capture = stream->capture;
    if (!capture || capture->is_broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    struct cf__cpu_graph *graph = capture->graph;
    if (!grow_set(&stream->nodes, graph->count / 64 + 1))
        return break_capture(capture, CUDA_ERROR_OUT_OF_MEMORY);
    stream->nodes->bits[graph->count / 64] |= (uint64_t)1 << graph->count % 64;
    graph->count++;
    graph->has_memory |= node->is_memory;
    node->next = NULL;
    *graph->last = stream->latest = node;
    graph->last = &node->next;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_capture_add(struct cf__cpu_handle *stream, struct cf__cpu_node *node)
{
    cf__cpu_lock();
    CUresult result = node ? add_node(stream, node) : break_capture(stream->capture, CUDA_ERROR_OUT_OF_MEMORY);
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
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    if (!cf__cpu_is_captured(slot))
        return node->run(node);
    struct cf__cpu_node *copy = malloc(size);
    node->size = size;
    return cf__cpu_capture_add(slot, copy ? memcpy(copy, node, size) : NULL);
}

CUresult cf__cpu_capture_break(struct cf__cpu_handle *stream)
{
    cf__cpu_lock();
    CUresult result = break_capture(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    cf__cpu_unlock();
    return result;
}

void cf__cpu_handle_release(struct cf__cpu_handle *slot)
{
    if (slot->kind == CF__CPU_STREAM && slot->capture && slot->capture->origin == slot)
        cf__cpu_graph_release(close_capture(slot->capture));
    else if (slot->kind == CF__CPU_STREAM && slot->capture)
        leave_capture(slot); /* the end of the capture detects work that no stream waited for */
    if (slot->graph)
        cf__cpu_graph_release(slot->graph);
    free_set(&slot->nodes);
}

static CUresult begin_capture(struct cf__cpu_handle *stream, CUstreamCaptureMode mode)
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
    join_capture(capture, stream);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    if (!slot)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    cf__cpu_lock();
    result = begin_capture(slot, mode);
    cf__cpu_unlock();
    return result;
}

static CUresult abandon_capture(struct cf__cpu_capture *capture, CUresult result)
{
    cf__cpu_graph_release(close_capture(capture));
    return result;
}

/* Ends a capture and returns its graph. If it fails, the capture ends as well, unless `stream` is not its origin. */
static CUresult end_capture(struct cf__cpu_handle *stream, struct cf__cpu_graph **graph)
{
    struct cf__cpu_capture *capture = stream->capture;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream)
        return break_capture(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return abandon_capture(capture, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    CUresult result = capture->is_broken                              ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                      : has_all(stream->nodes, capture->graph->count) ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = close_capture(capture);
    if (result != CUDA_SUCCESS)
        cf__cpu_graph_release(*graph);
    return result;
}

CUresult cf__cpu_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    struct cf__cpu_handle *slot;
    struct cf__cpu_graph *captured;
    *graph = NULL;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    if (!slot)
        return CUDA_ERROR_ILLEGAL_STATE;
    cf__cpu_lock();
    result = end_capture(slot, &captured);
    cf__cpu_unlock();
    if (result != CUDA_SUCCESS)
        return result;
    *graph = cf__cpu_graph_handle(CF__CPU_GRAPH, captured);
    return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The library asks only for the capture's number and for the nodes that the next node will follow; edges carry no
 * data. */
CUresult cf__cpu_cuStreamGetCaptureInfo_edges(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
                                              CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **edges,
                                              size_t *count)
{
    static _Thread_local CUgraphNode latest;
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (graph)
        return CUDA_ERROR_NOT_SUPPORTED;
    cf__cpu_lock();
    const struct cf__cpu_capture *capture = result == CUDA_SUCCESS && slot ? slot->capture : NULL;
    *status = !capture             ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->is_broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                   : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (id && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *id = capture->number;
    int is_one = capture && slot->latest && slot->latest != &several;
    latest = is_one ? (CUgraphNode)(void *)slot->latest : NULL;
    cf__cpu_unlock();
    if (nodes) {
        *nodes = &latest;
        *count = (size_t)is_one; /* also 0 for several nodes, because the library asks for a single one */
    }
    if (edges)
        *edges = NULL;
    return result;
}

CUresult cf__cpu_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                                        const CUgraphNode **nodes, size_t *count)
{
    return cf__cpu_cuStreamGetCaptureInfo_edges(stream, status, id, graph, nodes, NULL, count);
}

CUresult cf__cpu_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    return cf__cpu_cuStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL);
}

/* The mode is stored but has no effect, because no call of the CPU driver disturbs a capture. */
CUresult cf__cpu_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* ---- Events in captures ---- */

CUresult cf__cpu_capture_check_event(uint64_t number)
{
    cf__cpu_lock();
    CUresult result = find_capture(number) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_ERROR_INVALID_VALUE;
    cf__cpu_unlock();
    return result;
}

static CUresult record_event(struct cf__cpu_handle *event, struct cf__cpu_handle *stream)
{
    struct cf__cpu_capture *capture = stream ? stream->capture : NULL;
    uint64_t number = capture ? capture->number : 0;
    if (capture && capture->is_broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    free_set(&event->nodes);
    if (capture && !merge_sets(&event->nodes, stream->nodes))
        return break_capture(capture, CUDA_ERROR_OUT_OF_MEMORY);
    if (capture)
        event->latest = stream->latest;
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
    struct cf__cpu_handle *slot, *event_slot = cf__cpu_handle_find(event, CF__CPU_EVENT);
    CUresult result = event_slot ? cf__cpu_stream_find(stream, &slot) : CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        return result;
    cf__cpu_lock();
    result = record_event(event_slot, slot);
    cf__cpu_unlock();
    return result;
}

/* Makes a stream wait for an event. In a capture, the event's nodes precede the stream's next node, and a stream that
 * is not being captured joins the event's capture. */
static CUresult wait_for_event(struct cf__cpu_handle *stream, struct cf__cpu_handle *event)
{
    struct cf__cpu_capture *own = stream ? stream->capture : NULL;
    if (!event->captured_in)
        return own ? break_capture(own, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : CUDA_SUCCESS;
    struct cf__cpu_capture *capture = find_capture(event->captured_in);
    if (!capture)
        return break_capture(own, CUDA_ERROR_CAPTURED_EVENT);
    if (!stream)
        return break_capture(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (own && own != capture)
        return break_capture(capture, break_capture(own, CUDA_ERROR_STREAM_CAPTURE_MERGE));
    if (capture->is_broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!merge_sets(&stream->nodes, event->nodes))
        return break_capture(capture, CUDA_ERROR_OUT_OF_MEMORY);
    if (!own)
        join_capture(capture, stream);
    if (!stream->latest)
        stream->latest = event->latest;
    else if (event->latest && event->latest != stream->latest)
        stream->latest = &several;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    (void)flags;
    struct cf__cpu_handle *slot, *event_slot = cf__cpu_handle_find(event, CF__CPU_EVENT);
    CUresult result = event_slot ? cf__cpu_stream_find(stream, &slot) : CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        return result;
    cf__cpu_lock();
    result = wait_for_event(slot, event_slot);
    cf__cpu_unlock();
    return result;
}
