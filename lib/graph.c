/* graph.c - capture of streams, and the graphs that come of it: the driver's own. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* ---- What is being captured ---- */

/* The driver does not tell whether any stream of a context is being captured, and a wait for the context would break
 * that: so it is kept of the captures that are begun here. A capture begins when no such wait is under way.
 *
 * The driver is asked without the lock, and another thread may begin or end a capture of the same stream meanwhile: a
 * record is taken away by its number, and not for its stream. */
struct capture {
    cf_stream stream;
    const struct cf__driver *driver;
    CUcontext context;
    unsigned long long context_id; /* of one at the same address later; CF__NO_CONTEXT where the driver does not tell */
    long thread;                   /* that began it */
    uint64_t number;               /* of all records, from 1 */
    int is_begun; /* the driver has begun it; until then the record is its thread's alone to take away */
    uint64_t id;  /* the driver's; 0 until it is known */
    struct capture *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER; /* a wait has */
static uint64_t last_number;
static struct device_wait {
    CUcontext context;
    struct device_wait *next;
} * waits;

void cf__capture_lock(void)
{
    cf__lock(&lock);
}

void cf__capture_unlock(void)
{
    cf__unlock(&lock);
}

/* With the lock: a stream's capture, or else one that is about to begin; NULL where there is none. */
static struct capture *find(cf_stream stream)
{
    struct capture *found = NULL;
    for (struct capture *capture = cf__hot.captures; capture && !(found && found->is_begun); capture = capture->next)
        if (capture->stream == stream && (!found || capture->is_begun))
            found = capture;
    return found;
}

/* With the lock. */
static void drop(struct capture **link)
{
    struct capture *capture = *link;
    __atomic_store_n(link, capture->next, __ATOMIC_RELAXED);
    free(capture);
}

static int is_waited_for(CUcontext context)
{
    const struct device_wait *wait = waits;
    while (wait && wait->context != context)
        wait = wait->next;
    return wait != NULL;
}

/* Before the capture begins; gives the record's number. */
static uint64_t keep(struct capture *capture)
{
    cf__lock(&lock);
    while (is_waited_for(capture->context))
        pthread_cond_wait(&ended, &lock);
    uint64_t number = capture->number = ++last_number;
    capture->next = cf__hot.captures;
    __atomic_store_n(&cf__hot.captures, capture, __ATOMIC_RELAXED);
    cf__unlock(&lock);
    return number;
}

static void forget(uint64_t number)
{
    cf__lock(&lock);
    struct capture **link = &cf__hot.captures;
    while (*link && (*link)->number != number)
        link = &(*link)->next;
    if (*link)
        drop(link);
    cf__unlock(&lock);
}

static long this_thread(void)
{
    return syscall(SYS_gettid);
}

/* The driver has begun it: an earlier one of the same stream, or of one that had its handle before, has ended
 * elsewhere. */
static void note_begun(cf_stream stream, uint64_t number, uint64_t id)
{
    cf__lock(&lock);
    for (struct capture **link = &cf__hot.captures, *capture; (capture = *link) != NULL;)
        if (capture->number == number) {
            capture->is_begun = 1;
            capture->id = id;
            link = &capture->next;
        } else if (capture->stream == stream && capture->is_begun) {
            drop(link);
        } else {
            link = &capture->next;
        }
    cf__unlock(&lock);
}

/* The number of the stream's capture that has begun; 0: there is none. */
static uint64_t begun(cf_stream stream)
{
    cf__lock(&lock);
    const struct capture *capture = find(stream);
    uint64_t number = capture && capture->is_begun ? capture->number : 0;
    cf__unlock(&lock);
    return number;
}

/* The driver takes the call that ends a capture in the stream and from the thread that began it alone, and drops the
 * recording where it comes otherwise: that is not tried while it can still be done. What another library has begun is
 * not known here. Gives the record's number, or 0. */
static int check_end(const char *function, const struct cf__driver *driver, cf_stream stream, uint64_t id,
                     uint64_t *number)
{
    cf__lock(&lock);
    const struct capture *capture = cf__hot.captures;
    while (capture && !(id && capture->id == id && capture->driver == driver))
        capture = capture->next;
    if (!capture)
        capture = find(stream);
    cf_stream origin = capture ? capture->stream : stream;
    long thread = capture ? capture->thread : this_thread();
    *number = capture ? capture->number : 0;
    cf__unlock(&lock);
    if (origin != stream)
        return cf__fail(CF_EINVAL,
                        "%s: stream %p takes part in the capture that was begun in stream %p, and ends there", function,
                        (void *)stream, (void *)origin);
    if (thread != this_thread() && syscall(SYS_tgkill, getpid(), thread, 0) == 0)
        return cf__fail(CF_ECAPTURE, "%s: the capture of stream %p was begun in another thread, which has to end it",
                        function, (void *)stream);
    return CF_OK;
}

void cf__captures_forget(CUcontext context)
{
    cf__lock(&lock);
    for (struct capture **link = &cf__hot.captures; *link;)
        if (!context || (*link)->context == context)
            drop(link);
        else
            link = &(*link)->next;
    cf__unlock(&lock);
}

static unsigned long long id_of(const struct cf__place *place)
{
    unsigned long long id;
    return place->driver->cuCtxGetId(place->context, &id) == CUDA_SUCCESS ? id : CF__NO_CONTEXT;
}

/* With the lock: forgets the captures of a context that another library destroyed, and whose address is another one's
 * by now. */
static void forget_earlier(CUcontext context, unsigned long long id)
{
    for (struct capture **link = &cf__hot.captures; *link;)
        if ((*link)->context == context && (*link)->context_id != id && (*link)->context_id != CF__NO_CONTEXT &&
            id != CF__NO_CONTEXT)
            drop(link);
        else
            link = &(*link)->next;
}

static int begin_wait(const char *function, const struct cf__place *place, struct device_wait *wait)
{
    unsigned long long id = __atomic_load_n(&cf__hot.captures, __ATOMIC_RELAXED) ? id_of(place) : CF__NO_CONTEXT;
    cf__lock(&lock);
    forget_earlier(place->context, id);
    struct capture *capture = cf__hot.captures;
    while (capture && capture->context != place->context)
        capture = capture->next;
    void *stream = capture ? (void *)capture->stream : NULL;
    if (!stream) {
        *wait = (struct device_wait){place->context, waits};
        waits = wait;
    }
    cf__unlock(&lock);
    return stream ? cf__fail(CF_ECAPTURE, "%s: stream %p of the device is being captured", function, stream) : CF_OK;
}

static void end_wait(struct device_wait *wait)
{
    cf__lock(&lock);
    struct device_wait **link = &waits;
    while (*link && *link != wait)
        link = &(*link)->next;
    if (*link)
        *link = wait->next;
    pthread_cond_broadcast(&ended);
    cf__unlock(&lock);
}

int cf__wait_for_device(const char *function, const struct cf__place *place, CUresult *result)
{
    struct device_wait wait;
    int status = begin_wait(function, place, &wait);
    if (status == CF_OK) {
        *result = cf__wait_for_all(place);
        end_wait(&wait);
    }
    return status;
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
                                  : cf__fail_driver(place->driver, result, "cuStreamIsCapturing", "%s: stream %p",
                                                    function, (void *)stream);
}

static int fail_captured(cf_stream stream)
{
    return cf__fail(CF_ECAPTURE, "cf_stream_capture_begin: stream %p is being captured already", (void *)stream);
}

static int begin(const struct cf__place *place, cf_stream stream)
{
    CUstreamCaptureStatus now;
    int status = status_of_stream("cf_stream_capture_begin", place, stream, &now);
    if (status != CF_OK)
        return status;
    if (now != CU_STREAM_CAPTURE_STATUS_NONE)
        return fail_captured(stream);
    struct capture *capture = malloc(sizeof *capture);
    if (!capture)
        return cf__fail(CF_ENOMEM, "cf_stream_capture_begin: no memory");
    *capture = (struct capture){.stream = stream,
                                .driver = place->driver,
                                .context = place->context,
                                .context_id = id_of(place),
                                .thread = this_thread()};
    uint64_t number = keep(capture);
    CUresult result = place->driver->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (result != CUDA_SUCCESS) {
        forget(number);
        if (result == CUDA_ERROR_ILLEGAL_STATE) /* another thread was faster */
            return fail_captured(stream);
        return cf__fail_driver(place->driver, result, "cuStreamBeginCapture", "cf_stream_capture_begin: stream %p",
                               (void *)stream);
    }
    /* Without an id no stream that takes part is told from this one. */
    uint64_t id = 0;
    if (place->driver->cuStreamGetCaptureInfo(stream, &now, &id, NULL, NULL, NULL) != CUDA_SUCCESS)
        id = 0;
    note_begun(stream, number, id);
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
    uint64_t id = 0; /* where it is broken there is none */
    uint64_t number = begun(stream);
    CUresult result = place->driver->cuStreamGetCaptureInfo(stream, &now, &id, NULL, NULL, NULL);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuStreamGetCaptureInfo", "%s: stream %p", function,
                               (void *)stream);
    if (now == CU_STREAM_CAPTURE_STATUS_NONE) {
        forget(number); /* where the capture ended elsewhere */
        return cf__fail(CF_EINVAL, "%s: stream %p is not being captured", function, (void *)stream);
    }
    int status = check_end(function, place->driver, stream, now == CU_STREAM_CAPTURE_STATUS_ACTIVE ? id : 0, &number);
    if (status != CF_OK)
        return status;
    CUgraph captured = NULL;
    result = place->driver->cuStreamEndCapture(stream, &captured);
    if (result == CUDA_SUCCESS) {
        forget(number);
        *graph = cf__handle_keep(place, CF__GRAPH, captured);
        return CF_OK;
    }
    status = cf__fail_driver(place->driver, result, "cuStreamEndCapture", "%s: stream %p", function, (void *)stream);
    /* Some failures, such as that of a stream that only takes part in it, leave the capture under way. */
    if (place->driver->cuStreamIsCapturing(stream, &now) == CUDA_SUCCESS && now == CU_STREAM_CAPTURE_STATUS_NONE)
        forget(number);
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
    int status = cf__enter_handle(&place, "cf_graph_instantiate", "graph", CF__GRAPH,
                                  graph); /* whose context becomes that of `exec` */
    if (status != CF_OK)
        return status;
    CUgraphExec made;
    int mode = cf__relax(place.driver);
    CUresult result = place.driver->cuGraphInstantiateWithFlags(&made, graph, 0);
    cf__unrelax(place.driver, mode);
    if (result == CUDA_SUCCESS)
        *exec = cf__handle_keep(&place, CF__GRAPH_EXEC, made);
    else
        status = cf__fail_driver(place.driver, result, "cuGraphInstantiateWithFlags", "cf_graph_instantiate: graph %p",
                                 (void *)graph);
    cf__leave(&place);
    return status;
}

int cf_graph_destroy(cf_graph graph)
{
    if (!graph)
        return CF_OK;
    struct cf__place place;
    int status = cf__enter_handle(&place, "cf_graph_destroy", "graph", CF__GRAPH, graph);
    if (status != CF_OK)
        return status;
    unsigned int serial = cf__handle_serial(CF__GRAPH, graph);
    int mode = cf__relax(place.driver);
    CUresult result = place.driver->cuGraphDestroy(graph);
    cf__unrelax(place.driver, mode);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuGraphDestroy", "cf_graph_destroy: graph %p", (void *)graph);
    else
        cf__handle_drop(CF__GRAPH, graph, serial);
    cf__leave(&place);
    return status;
}

int cf_graph_exec_destroy(cf_graph_exec exec)
{
    if (!exec)
        return CF_OK;
    struct cf__place place;
    int status = cf__enter_handle(&place, "cf_graph_exec_destroy", "exec", CF__GRAPH_EXEC, exec);
    if (status != CF_OK)
        return status;
    unsigned int serial = cf__handle_serial(CF__GRAPH_EXEC, exec);
    int mode = cf__relax(place.driver);
    CUresult result = place.driver->cuGraphExecDestroy(exec);
    cf__unrelax(place.driver, mode);
    if (result != CUDA_SUCCESS)
        status =
            cf__fail_driver(place.driver, result, "cuGraphExecDestroy", "cf_graph_exec_destroy: exec %p", (void *)exec);
    else
        cf__handle_drop(CF__GRAPH_EXEC, exec, serial);
    cf__leave(&place);
    return status;
}

static int fail_launch(const struct cf__driver *driver, CUresult result, cf_graph_exec exec, cf_stream stream)
{
    return cf__fail_handle(driver, result, "cuGraphLaunch", "cf_graph_launch", "exec", exec, stream);
}

static struct cf__running *note_launch(struct cf__context *context, cf_stream stream)
{
    return context ? cf__note_launch(context, cf__graph, stream) : NULL;
}

/* Whether a stream may be of a capture: the driver is asked only while one is open that the library began, which stays
 * so where another library ended it. */
static int may_be_captured(const struct cf__driver *driver, cf_stream stream)
{
    CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
    return __atomic_load_n(&cf__hot.captures, __ATOMIC_RELAXED) &&
           (driver->cuStreamIsCapturing(stream, &now) != CUDA_SUCCESS || now != CU_STREAM_CAPTURE_STATUS_NONE);
}

/* On a stream that is known and not captured: whether that was possible. Where its context went unnoticed, messages
 * about a fault may leave the graph out. */
static int launch_known(cf_graph_exec exec, cf_stream stream, int *status)
{
    const struct cf__driver *driver = cf__host_owns(exec) ? NULL : cf__known_driver(stream);
    if (!driver || may_be_captured(driver, stream))
        return 0;
    struct cf__running *running = cf__note_again(cf__known.id, cf__graph, stream);
    if (!running)
        running = note_launch(cf__context_find(cf__known.id), stream);
    CUresult result = driver->cuGraphLaunch(exec, stream);
    cf__note_launched(running);
    *status = CF_OK;
    if (result == CUDA_SUCCESS)
        return 1;
    if (cf__is_unknown(result))
        return 0;
    *status = fail_launch(driver, result, exec, stream);
    return 1;
}

/* Graphs and streams of one driver; none takes a launch in a stream that is being captured, and trying breaks that. */
static int check_launch(const struct cf__place *place, cf_graph_exec exec, cf_stream stream)
{
    CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cf__host_owns(exec) != place->driver->is_host)
        return cf__fail(CF_EINVAL, "cf_graph_launch: exec %p is of %s and stream %p of %s", (void *)exec,
                        cf__host_owns(exec) ? "CF_HOST" : "a GPU", (void *)stream,
                        place->driver->is_host ? "CF_HOST" : "a GPU");
    int status = status_of_stream("cf_graph_launch", place, stream, &now);
    if (status == CF_OK && now != CU_STREAM_CAPTURE_STATUS_NONE)
        return cf__fail(CF_ECAPTURE,
                        "cf_graph_launch: stream %p is being captured, and graphs are not launched in graphs",
                        (void *)stream);
    return status;
}

/* What is kept of the place's context, made where there is nothing yet; NULL on the CPU, and where that fails: then the
 * graph is launched all the same. */
static struct cf__context *record_of(const struct cf__place *place)
{
    struct cf__error before;
    struct cf__context *context = place->driver->is_host ? NULL : cf__context_of(place->driver, place->context);
    if (context || place->driver->is_host)
        return context;
    cf__error_save(&before);
    int status = cf__context(place, "cf_graph_launch", &context);
    cf__error_restore(&before);
    return status == CF_OK ? context : NULL;
}

CF__HOT int cf_graph_launch(cf_graph_exec exec, cf_stream stream)
{
    if (!exec)
        return cf__fail(CF_EINVAL, "cf_graph_launch: exec is NULL");
    struct cf__place place;
    int status;
    if (launch_known(exec, stream, &status))
        return status;
    status = cf__handle_check("cf_graph_launch", "exec", CF__GRAPH_EXEC, exec);
    if (status == CF_OK)
        status = cf__enter(&place, "cf_graph_launch", stream);
    if (status != CF_OK)
        return status;
    status = check_launch(&place, exec, stream);
    if (status == CF_OK) {
        struct cf__context *context = record_of(&place);
        struct cf__running *running = note_launch(context, stream);
        CUresult result = place.driver->cuGraphLaunch(exec, stream);
        cf__note_launched(running);
        if (result == CUDA_SUCCESS && context)
            cf__know_stream(stream, &place, context->id);
        if (result != CUDA_SUCCESS)
            status = fail_launch(place.driver, result, exec, stream);
    }
    cf__leave(&place);
    return status;
}
