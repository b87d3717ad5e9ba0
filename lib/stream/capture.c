/* capture.c - captures streams into graphs. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cuferry.h>

#include "stream/capture.h"

#include "base/error.h"
#include "base/fast.h"
#include "base/lock.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/lost.h"
#include "stream/stream.h"

/* ---- Open captures ---- */

/* A wait for a context would invalidate a capture in any of its streams, and the driver does not tell whether there is
 * one. So the library records the captures that it begins, and does not begin a capture during such a wait.
 *
 * The lock is not held during driver calls, and another thread may begin or end a capture of the same stream meanwhile.
 * So records are removed by their number and not by their stream. */
struct cf__capture {
    cf_stream stream;
    const struct cf__driver *driver;
    CUcontext context;
    unsigned long long context_id; /* distinguishes a later context at the same address; CF__NO_CONTEXT: unknown */
    long thread;                   /* thread that began the capture */
    uint64_t number;               /* number of the record, from 1 */
    int is_begun; /* 1 after the driver has begun the capture; until then, only `thread` may remove the record */
    uint64_t id;  /* the driver's id of the capture; 0: unknown */
    struct cf__capture *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wait_ended = PTHREAD_COND_INITIALIZER; /* signals the end of a wait */
static uint64_t last_number;
static struct cf__capture_wait *waits;

void cf__capture_lock(void)
{
    cf__lock(&lock);
}

void cf__capture_unlock(void)
{
    cf__unlock(&lock);
}

/* Returns the capture of a stream that has begun, else one that is about to begin, else NULL. The caller holds the
 * lock. */
static struct cf__capture *find_capture(cf_stream stream)
{
    struct cf__capture *found = NULL;
    for (struct cf__capture *capture = cf__fast.captures; capture && !(found && found->is_begun);
         capture = capture->next)
        if (capture->stream == stream && (!found || capture->is_begun))
            found = capture;
    return found;
}

/* The caller holds the lock. */
static void drop_capture(struct cf__capture **link)
{
    struct cf__capture *capture = *link;
    __atomic_store_n(link, capture->next, __ATOMIC_RELAXED);
    free(capture);
}

static int is_waited_for(CUcontext context)
{
    const struct cf__capture_wait *wait = waits;
    while (wait && wait->context != context)
        wait = wait->next;
    return wait != NULL;
}

/* Adds the record before the capture begins. Returns its number. */
static uint64_t add_capture(struct cf__capture *capture)
{
    cf__lock(&lock);
    while (is_waited_for(capture->context))
        pthread_cond_wait(&wait_ended, &lock);
    uint64_t number = capture->number = ++last_number;
    capture->next = cf__fast.captures;
    __atomic_store_n(&cf__fast.captures, capture, __ATOMIC_RELAXED);
    cf__unlock(&lock);
    return number;
}

/* Removes a record; returns the driver's id of the capture, or 0 if it is unknown. */
static uint64_t forget_capture(uint64_t number)
{
    uint64_t id = 0;
    cf__lock(&lock);
    struct cf__capture **link = &cf__fast.captures;
    while (*link && (*link)->number != number)
        link = &(*link)->next;
    if (*link) {
        id = (*link)->id;
        drop_capture(link);
    }
    cf__unlock(&lock);
    return id;
}

static long this_thread_id(void)
{
    return syscall(SYS_gettid);
}

/* Records that the driver has begun the capture. So an earlier capture with the same stream handle has ended without
 * this library, and its record is dropped. */
static void note_begun(cf_stream stream, uint64_t number, uint64_t id)
{
    cf__lock(&lock);
    for (struct cf__capture **link = &cf__fast.captures, *capture; (capture = *link) != NULL;)
        if (capture->number == number) {
            capture->is_begun = 1;
            capture->id = id;
            link = &capture->next;
        } else if (capture->stream == stream && capture->is_begun) {
            cf__handle_forget_nodes(capture->id);
            drop_capture(link);
        } else {
            link = &capture->next;
        }
    cf__unlock(&lock);
}

/* Returns the number of the stream's capture that has begun, or 0. */
static uint64_t get_begun_number(cf_stream stream)
{
    cf__lock(&lock);
    const struct cf__capture *capture = find_capture(stream);
    uint64_t number = capture && capture->is_begun ? capture->number : 0;
    cf__unlock(&lock);
    return number;
}

/* Checks the end of a capture. Only the thread that began it may end it, in the same stream; otherwise the driver
 * discards the recording. So a wrong call fails here, while the capture can still be ended correctly. Stores the number
 * of the record, or 0 if another library began the capture. */
static int check_end(const char *function, const struct cf__driver *driver, cf_stream stream, uint64_t id,
                     uint64_t *number)
{
    cf__lock(&lock);
    const struct cf__capture *capture = cf__fast.captures;
    while (capture && !(id && capture->id == id && capture->driver == driver))
        capture = capture->next;
    if (!capture)
        capture = find_capture(stream);
    cf_stream origin = capture ? capture->stream : stream;
    long thread = capture ? capture->thread : this_thread_id();
    *number = capture ? capture->number : 0;
    cf__unlock(&lock);
    if (origin != stream)
        return cf__fail(CF_EINVAL,
                        "%s: stream %p takes part in the capture that was begun in stream %p, and ends there", function,
                        (void *)stream, (void *)origin);
    if (thread != this_thread_id() && syscall(SYS_tgkill, getpid(), thread, 0) == 0)
        return cf__fail(CF_ECAPTURE, "%s: the capture of stream %p was begun in another thread, which has to end it",
                        function, (void *)stream);
    return CF_OK;
}

void cf__captures_forget(CUcontext context)
{
    cf__lock(&lock);
    for (struct cf__capture **link = &cf__fast.captures; *link;)
        if (!context || (*link)->context == context)
            drop_capture(link);
        else
            link = &(*link)->next;
    cf__unlock(&lock);
}

static unsigned long long get_context_id(const struct cf__scope *scope)
{
    unsigned long long id;
    return scope->driver->cuCtxGetId(scope->context, &id) == CUDA_SUCCESS ? id : CF__NO_CONTEXT;
}

/* Forgets the captures of a context that another library destroyed and whose address a new context has. The caller
 * holds the lock. */
static void forget_stale_captures(CUcontext context, unsigned long long id)
{
    for (struct cf__capture **link = &cf__fast.captures; *link;)
        if ((*link)->context == context && (*link)->context_id != id && (*link)->context_id != CF__NO_CONTEXT &&
            id != CF__NO_CONTEXT)
            drop_capture(link);
        else
            link = &(*link)->next;
}

int cf__capture_wait_begin(const char *function, const struct cf__scope *scope, struct cf__capture_wait *wait)
{
    unsigned long long id =
        __atomic_load_n(&cf__fast.captures, __ATOMIC_RELAXED) ? get_context_id(scope) : CF__NO_CONTEXT;
    cf__lock(&lock);
    forget_stale_captures(scope->context, id);
    struct cf__capture *capture = cf__fast.captures;
    while (capture && capture->context != scope->context)
        capture = capture->next;
    void *stream = capture ? (void *)capture->stream : NULL;
    if (!stream) {
        *wait = (struct cf__capture_wait){scope->context, waits};
        waits = wait;
    }
    cf__unlock(&lock);
    return stream ? cf__fail(CF_ECAPTURE, "%s: stream %p of the device is being captured", function, stream) : CF_OK;
}

void cf__capture_wait_end(struct cf__capture_wait *wait)
{
    cf__lock(&lock);
    struct cf__capture_wait **link = &waits;
    while (*link && *link != wait)
        link = &(*link)->next;
    if (*link)
        *link = wait->next;
    pthread_cond_broadcast(&wait_ended);
    cf__unlock(&lock);
}

void cf__capture_waits_forget(void)
{
    waits = NULL;
    pthread_cond_init(&wait_ended, NULL);
}

/* ---- Capture ---- */

int cf__capture_status(const char *function, const struct cf__scope *scope, cf_stream stream,
                       CUstreamCaptureStatus *status)
{
    CUresult result = scope->driver->cuStreamIsCapturing(stream, status);
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(scope->driver, result, "cuStreamIsCapturing", "%s: stream %p",
                                                    function, (void *)stream);
}

/* Queries the driver's id of a capture. The newest function is used, because older ones may not support all edges of
 * graphs. */
static CUresult get_capture_id(const struct cf__scope *scope, cf_stream stream, CUstreamCaptureStatus *now,
                               uint64_t *id)
{
    const struct cf__driver *driver = scope->driver;
    return driver->cuStreamGetCaptureInfo_edges
               ? driver->cuStreamGetCaptureInfo_edges(stream, now, id, NULL, NULL, NULL, NULL)
               : driver->cuStreamGetCaptureInfo(stream, now, id, NULL, NULL, NULL);
}

static int fail_captured(cf_stream stream)
{
    return cf__fail(CF_ECAPTURE, "cf_stream_capture_begin: stream %p is being captured already", (void *)stream);
}

static int begin_capture(const struct cf__scope *scope, cf_stream stream)
{
    CUstreamCaptureStatus now;
    int status = cf__capture_status("cf_stream_capture_begin", scope, stream, &now);
    if (status != CF_OK)
        return status;
    if (now != CU_STREAM_CAPTURE_STATUS_NONE)
        return fail_captured(stream);
    struct cf__capture *capture = malloc(sizeof *capture);
    if (!capture)
        return cf__fail(CF_ENOMEM, "cf_stream_capture_begin: no memory");
    *capture = (struct cf__capture){.stream = stream,
                                    .driver = scope->driver,
                                    .context = scope->context,
                                    .context_id = get_context_id(scope),
                                    .thread = this_thread_id()};
    uint64_t number = add_capture(capture);
    CUresult result = scope->driver->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (result != CUDA_SUCCESS) {
        (void)forget_capture(number);
        if (result == CUDA_ERROR_ILLEGAL_STATE) /* another thread has begun a capture meanwhile */
            return fail_captured(stream);
        return cf__fail_driver(scope->driver, result, "cuStreamBeginCapture", "cf_stream_capture_begin: stream %p",
                               (void *)stream);
    }
    /* Without an id, cf_stream_capture_end() cannot recognize other streams that participate in the capture. */
    uint64_t id = 0;
    if (get_capture_id(scope, stream, &now, &id) != CUDA_SUCCESS)
        id = 0;
    note_begun(stream, number, id);
    return CF_OK;
}

int cf_stream_capture_begin(cf_stream stream)
{
    if (cf__stream_is_default(stream))
        return cf__fail(CF_EINVAL, "cf_stream_capture_begin: a default stream cannot be captured");
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_stream_capture_begin", stream);
    if (status != CF_OK)
        return status;
    status = begin_capture(&scope, stream);
    cf__leave(&scope);
    return status;
}

/* Destroys a graph that could not be recorded, because an update could not identify its nodes without a record. */
static int drop_graph(const char *function, const struct cf__driver *driver, CUgraph graph, uint64_t id)
{
    int mode = cf__capture_relax(driver);
    (void)driver->cuGraphDestroy(graph);
    cf__capture_restore(driver, mode);
    cf__handle_forget_nodes(id);
    return cf__fail(CF_ENOMEM, "%s: no memory", function);
}

static int end_capture(const struct cf__scope *scope, cf_stream stream, cf_graph *graph)
{
    const char *function = "cf_stream_capture_end";
    CUstreamCaptureStatus now;
    uint64_t id = 0; /* stays 0 for an invalidated capture */
    uint64_t number = get_begun_number(stream);
    CUresult result = get_capture_id(scope, stream, &now, &id);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamGetCaptureInfo", "%s: stream %p", function,
                               (void *)stream);
    if (now == CU_STREAM_CAPTURE_STATUS_NONE) {
        cf__handle_forget_nodes(forget_capture(number)); /* the capture was ended without this library */
        return cf__fail(CF_EINVAL, "%s: stream %p is not being captured", function, (void *)stream);
    }
    int status = check_end(function, scope->driver, stream, now == CU_STREAM_CAPTURE_STATUS_ACTIVE ? id : 0, &number);
    if (status != CF_OK)
        return status;
    CUgraph captured = NULL;
    result = scope->driver->cuStreamEndCapture(stream, &captured);
    if (result == CUDA_SUCCESS) {
        (void)forget_capture(number);
        if (!cf__handle_add_captured(scope, CF__GRAPH, captured, id))
            return drop_graph(function, scope->driver, captured, id);
        *graph = captured;
        return CF_OK;
    }
    status = cf__fail_driver(scope->driver, result, "cuStreamEndCapture", "%s: stream %p", function, (void *)stream);
    /* Some failures leave the capture open, for example if the stream participates in it without being its origin. */
    if (scope->driver->cuStreamIsCapturing(stream, &now) == CUDA_SUCCESS && now == CU_STREAM_CAPTURE_STATUS_NONE)
        cf__handle_forget_nodes(forget_capture(number));
    return status;
}

int cf_stream_capture_end(cf_stream stream, cf_graph *graph)
{
    if (!graph)
        return cf__fail(CF_EINVAL, "cf_stream_capture_end: graph is NULL");
    if (cf__stream_is_default(stream))
        return cf__fail(CF_EINVAL, "cf_stream_capture_end: a default stream is not being captured");
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_stream_capture_end", stream);
    if (status != CF_OK)
        return status;
    status = end_capture(&scope, stream, graph);
    cf__leave(&scope);
    return status;
}

/* Queries the nodes that the next node of a captured stream will follow. The driver owns the list. */
static CUresult get_latest(const struct cf__scope *scope, cf_stream stream, CUstreamCaptureStatus *now, uint64_t *id,
                           const CUgraphNode **nodes, size_t *count)
{
    const CUgraphEdgeData *edges;
    const struct cf__driver *driver = scope->driver;
    return driver->cuStreamGetCaptureInfo_edges
               ? driver->cuStreamGetCaptureInfo_edges(stream, now, id, NULL, nodes, &edges, count)
               : driver->cuStreamGetCaptureInfo(stream, now, id, NULL, nodes, count);
}

static int find_node(const struct cf__scope *scope, cf_stream stream, cf_graph_node *node)
{
    const char *function = "cf_stream_capture_node";
    CUstreamCaptureStatus now;
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    const CUgraphNode *nodes = NULL;
    uint64_t id = 0;
    size_t count = 0;
    CUresult result = get_latest(scope, stream, &now, &id, &nodes, &count);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamGetCaptureInfo", "%s: stream %p", function,
                               (void *)stream);
    if (now == CU_STREAM_CAPTURE_STATUS_NONE)
        return cf__fail(CF_EINVAL, "%s: stream %p is not being captured", function, (void *)stream);
    if (now != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return cf__fail(CF_ECAPTURE, "%s: the capture of stream %p is broken", function, (void *)stream);
    result = count == 1 ? scope->driver->cuGraphKernelNodeGetParams(nodes[0], &params) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_ERROR_INVALID_VALUE)
        return cf__fail(CF_EINVAL, "%s: the latest work in stream %p is no single launch of a kernel", function,
                        (void *)stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuGraphKernelNodeGetParams", "%s: stream %p", function,
                               (void *)stream);
    if (!cf__handle_add_captured(scope, CF__GRAPH_NODE, nodes[0], id))
        return cf__fail(CF_ENOMEM, "%s: no memory", function);
    *node = nodes[0];
    return CF_OK;
}

int cf_stream_capture_node(cf_stream stream, cf_graph_node *node)
{
    if (!node)
        return cf__fail(CF_EINVAL, "cf_stream_capture_node: node is NULL");
    if (cf__stream_is_default(stream))
        return cf__fail(CF_EINVAL, "cf_stream_capture_node: a default stream is not being captured");
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_stream_capture_node", stream);
    if (status != CF_OK)
        return status;
    status = find_node(&scope, stream, node);
    cf__leave(&scope);
    return status;
}

int cf_stream_is_capturing(cf_stream stream, int *is_capturing)
{
    if (!is_capturing)
        return cf__fail(CF_EINVAL, "cf_stream_is_capturing: is_capturing is NULL");
    struct cf__scope scope;
    int status = cf__enter(&scope, "cf_stream_is_capturing", stream);
    if (status != CF_OK)
        return status;
    CUstreamCaptureStatus now;
    status = cf__capture_status("cf_stream_is_capturing", &scope, stream, &now);
    if (status == CF_OK)
        *is_capturing = now != CU_STREAM_CAPTURE_STATUS_NONE;
    cf__leave(&scope);
    return status;
}
