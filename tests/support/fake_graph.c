/* fake_graph.c - capture and graphs of the played GPU, and the host functions that it calls.
 *
 * A capture keeps its work as a list in the order of the calls, which respects every dependency. The dependencies
 * between streams are stored separately to detect streams that were not joined. */
#include <stdlib.h>
#include <string.h>

#include "fake_libcuda.h"

static struct fake_capture *captures;
static uint64_t capture_count;
static struct fake_work several;                      /* stands for the latest node if there are several */
static _Thread_local CUstreamCaptureMode thread_mode; /* 0: the global mode */
static _Thread_local int in_callback;

/* ---- Sets of nodes ---- */

struct fake_set {
    size_t words;
    uint64_t bits[];
};

static void grow(struct fake_set **set, size_t words)
{
    size_t before = *set ? (*set)->words : 0;
    if (before >= words)
        return;
    struct fake_set *larger = realloc(*set, sizeof *larger + words * sizeof larger->bits[0]);
    if (!larger)
        abort();
    memset(larger->bits + before, 0, (words - before) * sizeof larger->bits[0]);
    larger->words = words;
    *set = larger;
}

static void unite(struct fake_set **set, const struct fake_set *other)
{
    grow(set, other ? other->words : 0);
    for (size_t i = 0; other && i < other->words; i++)
        (*set)->bits[i] |= other->bits[i];
}

static int has_all(const struct fake_set *set, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!set || i / 64 >= set->words || !(set->bits[i / 64] >> i % 64 & 1))
            return 0;
    return 1;
}

static void clear(struct fake_set **set)
{
    free(*set);
    *set = NULL;
}

/* ---- Calls that invalidate captures ---- */

static CUresult spoil(struct fake_capture *capture, CUresult result)
{
    if (capture)
        capture->is_broken = 1;
    return result;
}

CUresult fake_unsafe(void)
{
    CUresult result = CUDA_SUCCESS;
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return result;
    for (struct fake_capture *capture = captures; capture; capture = capture->next) {
        int is_own = pthread_equal(capture->thread, pthread_self()) && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        if (is_own || (thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL))
            result = spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    return result;
}

CUresult fake_break_captures(CUcontext context)
{
    CUresult result = CUDA_SUCCESS;
    for (struct fake_object *object = fake_objects; object; object = object->next)
        if (object->kind == FAKE_STREAM && object->context == context && ((CUstream)(void *)object)->capture)
            result = spoil(((CUstream)(void *)object)->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return result;
}

CUresult fake_implicit(CUcontext context, int is_broken_by_it)
{
    CUresult result = CUDA_SUCCESS;
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        CUstream stream = (CUstream)(void *)object;
        if (object->kind != FAKE_STREAM || object->context != context || !stream->capture ||
            stream->flags & CU_STREAM_NON_BLOCKING)
            continue;
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        if (is_broken_by_it)
            spoil(stream->capture, result);
    }
    return result;
}

CUresult fake_capture_wait(CUstream stream)
{
    return stream->capture ? spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) : CUDA_SUCCESS;
}

CUresult fake_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = thread_mode; /* an invalid mode is accepted too, as in the driver */
    thread_mode = *mode;
    *mode = before;
    return fake_end(fake_begin());
}

/* ---- Captures ---- */

static struct fake_capture *find_capture(uint64_t number)
{
    struct fake_capture *capture = captures;
    while (capture && capture->number != number)
        capture = capture->next;
    return capture;
}

/* Takes all streams out of the capture, whose nodes then belong to the caller. */
static struct fake_nodes *finish(struct fake_capture *capture)
{
    struct fake_nodes *nodes = capture->nodes;
    struct fake_capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        CUstream stream = (CUstream)(void *)object;
        if (object->kind == FAKE_STREAM && stream->capture == capture) {
            stream->capture = NULL;
            stream->latest = NULL;
            clear(&stream->nodes);
        }
    }
    free(capture);
    return nodes;
}

void fake_release_graph(struct fake_nodes *nodes)
{
    if (--nodes->owners > 0)
        return;
    for (struct fake_work *work = nodes->first, *next; work; work = next) {
        next = work->next;
        if (work->destroy)
            work->destroy(work);
        free(work);
    }
    for (struct fake_update *update = nodes->updates, *next; update; update = next) {
        next = update->next_of_all;
        free(update->now);
        free(update);
    }
    free(nodes);
}

static int has_node(const struct fake_nodes *nodes, const struct fake_work *node)
{
    const struct fake_work *other = nodes->first;
    while (other && other != node)
        other = other->next;
    return other != NULL;
}

int fake_is_node(const struct fake_work *node)
{
    for (const struct fake_capture *capture = captures; capture; capture = capture->next)
        if (has_node(capture->nodes, node))
            return 1;
    for (struct fake_object *object = fake_objects; object; object = object->next)
        if (object->kind == FAKE_GRAPH && has_node(((CUgraph)(void *)object)->nodes, node))
            return 1;
    return 0;
}

CUresult fake_update_node(CUgraphExec exec, const struct fake_work *node, struct fake_work *now)
{
    struct fake_update *update = malloc(sizeof *update);
    if (!update)
        abort();
    if (!fake_is_live(exec, FAKE_EXEC) || !has_node(exec->nodes, node)) {
        free(update);
        free(now);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *update = (struct fake_update){exec->updates, exec->nodes->updates, node, now};
    exec->updates = exec->nodes->updates = update;
    return CUDA_SUCCESS;
}

void *fake_add_node(CUstream stream, void (*run)(CUcontext context, struct fake_work *work), size_t size)
{
    struct fake_nodes *nodes = stream->capture->nodes;
    struct fake_work *work = calloc(1, size);
    if (!work)
        abort();
    work->run = run;
    work->context = stream->object.context;
    work->id = stream->object.context->id;
    *nodes->last = stream->latest = work;
    nodes->last = &work->next;
    grow(&stream->nodes, (size_t)(nodes->count / 64 + 1));
    stream->nodes->bits[nodes->count / 64] |= (uint64_t)1 << nodes->count % 64;
    nodes->count++;
    return work;
}

void fake_forget_stream(CUstream stream)
{
    for (struct fake_object *object = fake_objects; object; object = object->next) {
        if (object->kind == FAKE_EVENT && ((CUevent)(void *)object)->stream == stream)
            ((CUevent)(void *)object)->stream = NULL;
        if (object->kind == FAKE_EXEC && ((CUgraphExec)(void *)object)->stream == stream)
            ((CUgraphExec)(void *)object)->stream = NULL;
    }
    if (stream->capture && stream->capture->origin == stream)
        fake_release_graph(finish(stream->capture));
    clear(&stream->nodes); /* if the stream only took part in the capture, its work remains unjoined */
}

void fake_end_captures(CUcontext context)
{
    for (struct fake_capture *capture = captures, *next; capture; capture = next) {
        next = capture->next;
        if (capture->origin->object.context == context)
            fake_release_graph(finish(capture));
    }
}

/* Returns 1 for the default streams, which cannot be captured. */
static int is_default(CUstream handle)
{
    return !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

CUresult fake_cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_find_stream(handle, &stream));
    if (is_default(handle))
        return fake_end(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    if (stream->capture)
        return fake_end(CUDA_ERROR_ILLEGAL_STATE);
    struct fake_capture *capture = calloc(1, sizeof *capture);
    struct fake_nodes *nodes = calloc(1, sizeof *nodes);
    if (!capture || !nodes)
        abort();
    nodes->owners = 1;
    nodes->last = &nodes->first;
    *capture = (struct fake_capture){captures, ++capture_count, mode, pthread_self(), 0, stream, nodes};
    captures = stream->capture = capture;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    CUstream stream;
    *graph = NULL;
    TRY(fake_begin());
    TRY(fake_find_stream(handle, &stream));
    struct fake_capture *capture = stream->capture;
    if (!capture)
        return fake_end(CUDA_ERROR_ILLEGAL_STATE);
    if (capture->origin != stream)
        return fake_end(spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
    int is_foreign = capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !pthread_equal(capture->thread, pthread_self());
    CUresult result = is_foreign                                      ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
                      : capture->is_broken                            ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                      : has_all(stream->nodes, capture->nodes->count) ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    struct fake_nodes *nodes = finish(capture);
    if (result == CUDA_SUCCESS) {
        *graph = fake_add(FAKE_GRAPH, sizeof **graph, stream->object.context);
        (*graph)->nodes = nodes;
    } else {
        fake_release_graph(nodes);
    }
    return fake_end(result);
}

/* Gives the capture's id and the nodes that the next node will follow (at most one), which is all that the library
 * queries. */
CUresult fake_cuStreamGetCaptureInfo_edges(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                                           const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count)
{
    static _Thread_local CUgraphNode latest;
    CUstream stream;
    TRY(fake_begin());
    if (graph)
        return fake_end(CUDA_ERROR_NOT_SUPPORTED);
    TRY(fake_find_stream(handle, &stream));
    if (is_default(handle))
        TRY(fake_implicit(stream->object.context, 0));
    *status = !stream->capture             ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->is_broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                           : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (id && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *id = stream->capture->number;
    latest = stream->latest == &several ? NULL : (CUgraphNode)(void *)stream->latest;
    if (nodes) {
        *nodes = &latest;
        *count = latest != NULL;
    }
    if (edges)
        *edges = NULL;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                                     const CUgraphNode **nodes, size_t *count)
{
    return fake_cuStreamGetCaptureInfo_edges(handle, status, id, graph, nodes, NULL, count);
}

CUresult fake_cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    return fake_cuStreamGetCaptureInfo(handle, status, NULL, NULL, NULL, NULL);
}

/* ---- Events ---- */

CUresult fake_captured_event(CUevent event)
{
    return find_capture(event->captured_in) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_ERROR_INVALID_VALUE;
}

void fake_capture_event(CUstream stream, CUevent event)
{
    clear(&event->nodes);
    event->captured_in = stream->capture ? stream->capture->number : 0;
    event->latest = stream->latest;
    if (stream->capture)
        unite(&event->nodes, stream->nodes);
}

CUresult fake_capture_follow(CUstream stream, CUevent event, int *done)
{
    struct fake_capture *own = stream->capture, *other = find_capture(event->captured_in);
    *done = own || event->captured_in;
    if (!event->captured_in)
        return own ? spoil(own, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : CUDA_SUCCESS;
    if (!other)
        return spoil(own, CUDA_ERROR_INVALID_VALUE); /* as CUDA 13.0 does */
    if (stream == &stream->object.context->legacy)
        return spoil(other, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (own && own != other)
        return spoil(own, spoil(other, CUDA_ERROR_STREAM_CAPTURE_MERGE));
    if (other->is_broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!stream->latest)
        stream->latest = event->latest;
    else if (event->latest && event->latest != stream->latest)
        stream->latest = &several;
    stream->capture = other;
    unite(&stream->nodes, event->nodes);
    return CUDA_SUCCESS;
}

/* ---- Host functions: they run on another thread, as in the driver, and the caller waits for it ---- */

struct call {
    struct fake_work work;
    void (*function)(void *data);
    void *data;
};

int fake_is_in_callback(void)
{
    return in_callback;
}

static void *call(void *of)
{
    const struct call *call = of;
    in_callback = 1;
    call->function(call->data);
    return NULL;
}

static void run_call(CUcontext context, struct fake_work *work)
{
    pthread_t thread;
    (void)context;
    if (pthread_create(&thread, NULL, call, work) != 0)
        abort();
    pthread_join(thread, NULL);
}

CUresult fake_cuLaunchHostFunc(CUstream handle, void (*function)(void *data), void *data)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    if (!function)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    fake_counts.host_function++;
    struct call *work = fake_submit(stream, run_call, sizeof *work);
    work->function = function;
    work->data = data;
    return fake_end(CUDA_SUCCESS);
}

/* ---- Graphs ---- */

CUresult fake_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CUcontext context;
    TRY(fake_begin());
    TRY(fake_current(&context));
    if (!fake_is_live(graph, FAKE_GRAPH) || flags)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    TRY(fake_failed(graph->object.context));
    if (graph->nodes->has_memory && graph->nodes->execs)
        return fake_end(CUDA_ERROR_NOT_SUPPORTED); /* two executable graphs would allocate at the same address */
    *exec = fake_add(FAKE_EXEC, sizeof **exec, graph->object.context);
    (*exec)->nodes = graph->nodes;
    graph->nodes->owners++;
    graph->nodes->execs++;
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuGraphDestroy(CUgraph graph)
{
    TRY(fake_begin());
    if (!fake_is_live(graph, FAKE_GRAPH))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    fake_remove(graph);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuGraphExecDestroy(CUgraphExec exec)
{
    TRY(fake_begin());
    if (!fake_is_live(exec, FAKE_EXEC))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    exec->nodes->execs--;
    fake_remove(exec);
    return fake_end(CUDA_SUCCESS);
}

struct run {
    struct fake_work work;
    struct fake_nodes *nodes;
    const struct fake_update *updates;
};

static void run_nodes(CUcontext context, struct fake_work *work)
{
    (void)context;
    const struct run *run = (const struct run *)work;
    for (struct fake_work *node = run->nodes->first; node; node = node->next) {
        const struct fake_update *update = run->updates;
        while (update && update->node != node)
            update = update->next;
        if (fake_context_is_live(node->context) && node->context->id == node->id &&
            fake_failed(node->context) == CUDA_SUCCESS)
            node->run(node->context, update ? update->now : node);
    }
}

static void destroy_run(struct fake_work *work)
{
    fake_release_graph(((struct run *)work)->nodes);
}

CUresult fake_cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
    CUstream stream;
    TRY(fake_begin());
    TRY(fake_stream(handle, &stream));
    if (!fake_is_live(exec, FAKE_EXEC))
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    TRY(fake_capture_wait(stream)); /* a launch breaks the capture of its stream, as a wait does */
    TRY(fake_give_graph_memory(exec->nodes));
    if (exec->stream && exec->stream->done < exec->position)
        fake_follow(stream, exec->stream, exec->position);
    struct run *run = fake_submit(stream, run_nodes, sizeof *run);
    run->work.destroy = destroy_run;
    run->nodes = exec->nodes;
    run->updates = exec->updates;
    run->nodes->owners++;
    fake_counts.graph_launch++;
    exec->stream = stream;
    exec->position = stream->submitted;
    return fake_end(CUDA_SUCCESS);
}
