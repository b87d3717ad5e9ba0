/* graph.c - capture of streams, and the graphs that come of it: the driver's own. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* ---- What is being captured ---- */

/* The driver does not tell whether any stream of a context is being captured, and a wait for the context would break
 * that: so it is kept of the captures that are begun here. A capture begins when no such wait is under way. */
struct capture {
    cf_stream stream;
    CUcontext context;
    long thread; /* that began it */
    struct capture *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER; /* a wait has */
static struct capture *captures;
static int has_captures; /* atomic, for those that have no lock */
static struct cf__device_wait *waits;

void cf__capture_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cf__capture_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* With the lock: the link to a stream's capture, or the list's end. */
static struct capture **find(cf_stream stream)
{
    struct capture **link = &captures;
    while (*link && (*link)->stream != stream)
        link = &(*link)->next;
    return link;
}

/* With the lock, after each change. */
static void note_captures(void)
{
    __atomic_store_n(&has_captures, captures != NULL, __ATOMIC_RELAXED);
}

static int is_waited_for(CUcontext context)
{
    const struct cf__device_wait *wait = waits;
    while (wait && wait->context != context)
        wait = wait->next;
    return wait != NULL;
}

/* Before the capture begins. */
static void keep(struct capture *capture)
{
    int cancel = cf__cancel_off();
    pthread_mutex_lock(&lock);
    while (is_waited_for(capture->context))
        pthread_cond_wait(&ended, &lock);
    struct capture **link = find(capture->stream), *before = *link;
    if (before) /* a stream that had its handle before was destroyed elsewhere, or its capture ended there */
        *link = before->next;
    free(before);
    capture->next = captures;
    captures = capture;
    note_captures();
    pthread_mutex_unlock(&lock);
    cf__cancel_on(cancel);
}

static void forget(cf_stream stream)
{
    pthread_mutex_lock(&lock);
    struct capture **link = find(stream), *capture = *link;
    if (capture)
        *link = capture->next;
    note_captures();
    pthread_mutex_unlock(&lock);
    free(capture);
}

static long this_thread(void)
{
    return syscall(SYS_gettid);
}

/* The driver takes the call that ends a capture from the thread that began it alone, and drops the recording where it
 * comes from another: that is not tried while the first thread can still do it. */
static int is_of_another_thread(cf_stream stream)
{
    pthread_mutex_lock(&lock);
    const struct capture *capture = *find(stream);
    long thread = capture ? capture->thread : this_thread();
    pthread_mutex_unlock(&lock);
    return thread != this_thread() && syscall(SYS_tgkill, getpid(), thread, 0) == 0;
}

void cf__captures_forget(CUcontext context)
{
    pthread_mutex_lock(&lock);
    for (struct capture **link = &captures, *capture; (capture = *link) != NULL;)
        if (!context || capture->context == context) {
            *link = capture->next;
            free(capture);
        } else {
            link = &capture->next;
        }
    note_captures();
    pthread_mutex_unlock(&lock);
}

int cf__device_wait_begin(const char *function, const struct cf__place *place, struct cf__device_wait *wait)
{
    pthread_mutex_lock(&lock);
    struct capture *capture = captures;
    while (capture && capture->context != place->context)
        capture = capture->next;
    void *stream = capture ? (void *)capture->stream : NULL;
    if (!stream) {
        *wait = (struct cf__device_wait){place->context, waits};
        waits = wait;
    }
    pthread_mutex_unlock(&lock);
    return stream ? cf__fail(CF_ECAPTURE, "%s: stream %p of the device is being captured", function, stream) : CF_OK;
}

void cf__device_wait_end(struct cf__device_wait *wait)
{
    pthread_mutex_lock(&lock);
    struct cf__device_wait **link = &waits;
    while (*link && *link != wait)
        link = &(*link)->next;
    if (*link)
        *link = wait->next;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

void cf__device_waits_forget(void)
{
    waits = NULL;
    pthread_cond_init(&ended, NULL);
}

/* ---- Capture ---- */

static int status_of_stream(const char *function, const struct cf__place *place, cf_stream stream,
                            CUstreamCaptureStatus *status)
{
    CUresult result = place->driver->cuStreamIsCapturing(stream, status);
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(place->driver, result, "cuStreamIsCapturing", "%s", function);
}

static int begin(const struct cf__place *place, cf_stream stream)
{
    CUstreamCaptureStatus now;
    int status = status_of_stream("cf_stream_capture_begin", place, stream, &now);
    if (status == CF_OK && now != CU_STREAM_CAPTURE_STATUS_NONE)
        return cf__fail(CF_ECAPTURE, "cf_stream_capture_begin: stream %p is being captured already", (void *)stream);
    if (status != CF_OK)
        return status;
    struct capture *capture = malloc(sizeof *capture);
    if (!capture)
        return cf__fail(CF_ENOMEM, "cf_stream_capture_begin: no memory");
    *capture = (struct capture){stream, place->context, this_thread(), NULL};
    keep(capture);
    CUresult result = place->driver->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (result != CUDA_SUCCESS) {
        forget(stream);
        return cf__fail_driver(place->driver, result, "cuStreamBeginCapture", "cf_stream_capture_begin");
    }
    return CF_OK;
}

int cf_stream_capture_begin(cf_stream stream)
{
    if (cf__is_default(stream))
        return cf__fail(CF_EINVAL, "cf_stream_capture_begin: a default stream cannot be captured");
    struct cf__place place;
    int status = cf__enter(&place, "cf_stream_capture_begin", stream);
    if (status != CF_OK)
        return status;
    status = begin(&place, stream);
    cf__leave(&place);
    return status;
}

static int end(const struct cf__place *place, cf_stream stream, cf_graph *graph)
{
    const char *function = "cf_stream_capture_end";
    CUstreamCaptureStatus now;
    int status = status_of_stream(function, place, stream, &now);
    if (status == CF_OK && now == CU_STREAM_CAPTURE_STATUS_NONE) {
        forget(stream); /* where the capture ended elsewhere */
        return cf__fail(CF_EINVAL, "%s: stream %p is not being captured", function, (void *)stream);
    }
    if (status != CF_OK)
        return status;
    if (is_of_another_thread(stream))
        return cf__fail(CF_ECAPTURE, "%s: the capture of stream %p was begun in another thread, which has to end it",
                        function, (void *)stream);
    CUgraph captured = NULL;
    CUresult result = place->driver->cuStreamEndCapture(stream, &captured);
    if (result == CUDA_SUCCESS) {
        forget(stream);
        *graph = cf__handle_keep(place, captured);
        return CF_OK;
    }
    status = cf__fail_driver(place->driver, result, "cuStreamEndCapture", "%s: stream %p", function, (void *)stream);
    /* Some failures, such as that of a stream that only takes part in it, leave the capture under way. */
    if (place->driver->cuStreamIsCapturing(stream, &now) == CUDA_SUCCESS && now == CU_STREAM_CAPTURE_STATUS_NONE)
        forget(stream);
    return status;
}

int cf_stream_capture_end(cf_stream stream, cf_graph *graph)
{
    if (!graph)
        return cf__fail(CF_EINVAL, "cf_stream_capture_end: graph is NULL");
    if (cf__is_default(stream))
        return cf__fail(CF_EINVAL, "cf_stream_capture_end: a default stream is not being captured");
    struct cf__place place;
    int status = cf__enter(&place, "cf_stream_capture_end", stream);
    if (status != CF_OK)
        return status;
    status = end(&place, stream, graph);
    cf__leave(&place);
    return status;
}

int cf_stream_is_capturing(cf_stream stream, int *is_capturing)
{
    if (!is_capturing)
        return cf__fail(CF_EINVAL, "cf_stream_is_capturing: is_capturing is NULL");
    struct cf__place place;
    int status = cf__enter(&place, "cf_stream_is_capturing", stream);
    if (status != CF_OK)
        return status;
    CUstreamCaptureStatus now;
    status = status_of_stream("cf_stream_is_capturing", &place, stream, &now);
    if (status == CF_OK)
        *is_capturing = now != CU_STREAM_CAPTURE_STATUS_NONE;
    cf__leave(&place);
    return status;
}

/* ---- Graphs ---- */

int cf_graph_instantiate(cf_graph_exec *exec, cf_graph graph)
{
    if (!exec || !graph)
        return cf__fail(CF_EINVAL, "cf_graph_instantiate: %s is NULL", exec ? "graph" : "exec");
    struct cf__place place;
    int status = cf__enter_handle(&place, "cf_graph_instantiate", graph);
    if (status != CF_OK)
        return status;
    CUgraphExec made;
    int mode = cf__relax(place.driver);
    CUresult result = place.driver->cuGraphInstantiateWithFlags(&made, graph, 0);
    cf__unrelax(place.driver, mode);
    if (result == CUDA_SUCCESS)
        *exec = cf__handle_keep(&place, made);
    else
        status = cf__fail_driver(place.driver, result, "cuGraphInstantiateWithFlags", "cf_graph_instantiate");
    cf__leave(&place);
    return status;
}

int cf_graph_destroy(cf_graph graph)
{
    if (!graph)
        return CF_OK;
    struct cf__place place;
    int status = cf__enter_handle(&place, "cf_graph_destroy", graph);
    if (status != CF_OK)
        return status;
    int mode = cf__relax(place.driver);
    CUresult result = place.driver->cuGraphDestroy(graph);
    cf__unrelax(place.driver, mode);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuGraphDestroy", "cf_graph_destroy");
    else
        cf__handle_drop(graph);
    cf__leave(&place);
    return status;
}

int cf_graph_exec_destroy(cf_graph_exec exec)
{
    if (!exec)
        return CF_OK;
    struct cf__place place;
    int status = cf__enter_handle(&place, "cf_graph_exec_destroy", exec);
    if (status != CF_OK)
        return status;
    int mode = cf__relax(place.driver);
    CUresult result = place.driver->cuGraphExecDestroy(exec);
    cf__unrelax(place.driver, mode);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuGraphExecDestroy", "cf_graph_exec_destroy");
    else
        cf__handle_drop(exec);
    cf__leave(&place);
    return status;
}

/* On a stream that is known: whether that was possible. */
static int launch_known(cf_graph_exec exec, cf_stream stream, int *status)
{
    unsigned long long id;
    const struct cf__driver *driver = cf__host_owns(exec) ? NULL : cf__known_stream(stream, &id);
    if (!driver || __atomic_load_n(&has_captures, __ATOMIC_RELAXED))
        return 0;
    struct cf__running *running = cf__note_graph(cf__context_find(id), stream);
    CUresult result = driver->cuGraphLaunch(exec, stream);
    cf__note_launched(running);
    *status = CF_OK;
    if (result == CUDA_SUCCESS)
        return 1;
    if (cf__is_unknown(result))
        return 0;
    *status = cf__fail_driver(driver, result, "cuGraphLaunch", "cf_graph_launch");
    return 1;
}

/* Graphs and streams of one driver; none takes a launch in a stream that is being captured, and trying breaks that. */
static int check_launch(const struct cf__place *place, cf_graph_exec exec, cf_stream stream)
{
    CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cf__host_owns(exec) != place->driver->is_host)
        return cf__fail(CF_EINVAL, "cf_graph_launch: exec is of %s and the stream of %s",
                        cf__host_owns(exec) ? "CF_HOST" : "a GPU", place->driver->is_host ? "CF_HOST" : "a GPU");
    int status = cf__is_default(stream) ? CF_OK : status_of_stream("cf_graph_launch", place, stream, &now);
    if (status == CF_OK && now != CU_STREAM_CAPTURE_STATUS_NONE)
        return cf__fail(CF_ECAPTURE,
                        "cf_graph_launch: stream %p is being captured, and graphs are not launched in graphs",
                        (void *)stream);
    return status;
}

int cf_graph_launch(cf_graph_exec exec, cf_stream stream)
{
    if (!exec)
        return cf__fail(CF_EINVAL, "cf_graph_launch: exec is NULL");
    struct cf__place place;
    int status;
    if (launch_known(exec, stream, &status))
        return status;
    status = cf__handle_check("cf_graph_launch", exec);
    if (status == CF_OK)
        status = cf__enter(&place, "cf_graph_launch", stream);
    if (status != CF_OK)
        return status;
    status = check_launch(&place, exec, stream);
    if (status == CF_OK) {
        struct cf__context *context = place.driver->is_host ? NULL : cf__context_of(place.driver, place.context);
        struct cf__running *running = cf__note_graph(context, stream);
        CUresult result = place.driver->cuGraphLaunch(exec, stream);
        cf__note_launched(running);
        if (result == CUDA_SUCCESS && context)
            cf__know_stream(stream, &place, context->id);
        if (result != CUDA_SUCCESS)
            status = cf__fail_driver(place.driver, result, "cuGraphLaunch", "cf_graph_launch");
    }
    cf__leave(&place);
    return status;
}
