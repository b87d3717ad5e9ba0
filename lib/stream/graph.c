/* graph.c - graphs of captured streams. They are the driver's own. */
#include <stdint.h>

#include <cuferry.h>

#include "base/error.h"
#include "base/fast.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/inflight.h"
#include "context/last_stream.h"
#include "context/lost.h"
#include "stream/capture.h"

int cf_graph_instantiate(cf_graph_exec *exec, cf_graph graph)
{
    if (!exec || !graph)
        return cf__fail(CF_EINVAL, "cf_graph_instantiate: %s is NULL", exec ? "graph" : "exec");
    struct cf__scope scope;
    /* `exec` will belong to the context of `graph`. */
    int status = cf__enter_handle(&scope, "cf_graph_instantiate", "graph", CF__GRAPH, graph);
    if (status != CF_OK)
        return status;
    CUgraphExec made;
    int mode = cf__capture_relax(scope.driver);
    CUresult result = scope.driver->cuGraphInstantiateWithFlags(&made, graph, 0);
    int is_recorded = result == CUDA_SUCCESS &&
                      cf__handle_add_captured(&scope, CF__GRAPH_EXEC, made, cf__handle_get_capture(CF__GRAPH, graph));
    if (result == CUDA_SUCCESS && !is_recorded)
        (void)scope.driver->cuGraphExecDestroy(made);
    cf__capture_restore(scope.driver, mode);
    if (is_recorded)
        *exec = made;
    else if (result == CUDA_SUCCESS)
        status = cf__fail(CF_ENOMEM, "cf_graph_instantiate: no memory");
    else
        status = cf__fail_driver(scope.driver, result, "cuGraphInstantiateWithFlags", "cf_graph_instantiate: graph %p",
                                 (void *)graph);
    cf__leave(&scope);
    return status;
}

static int destroy_graph(const char *function, const char *name, enum cf__handle_kind kind, void *handle)
{
    if (!handle)
        return CF_OK;
    struct cf__scope scope;
    int status = cf__enter_handle(&scope, function, name, kind, handle);
    if (status != CF_OK)
        return status;
    unsigned int serial = cf__handle_serial(kind, handle);
    uint64_t capture = kind == CF__GRAPH ? cf__handle_get_capture(kind, handle) : 0;
    int mode = cf__capture_relax(scope.driver), is_exec = kind == CF__GRAPH_EXEC;
    CUresult result = is_exec ? scope.driver->cuGraphExecDestroy(handle) : scope.driver->cuGraphDestroy(handle);
    cf__capture_restore(scope.driver, mode);
    if (result == CUDA_SUCCESS) {
        cf__handle_remove(kind, handle, serial);
        cf__handle_forget_nodes(capture);
    } else {
        status = cf__fail_driver(scope.driver, result, is_exec ? "cuGraphExecDestroy" : "cuGraphDestroy", "%s: %s %p",
                                 function, name, handle);
    }
    cf__leave(&scope);
    return status;
}

int cf_graph_destroy(cf_graph graph)
{
    return destroy_graph("cf_graph_destroy", "graph", CF__GRAPH, graph);
}

int cf_graph_exec_destroy(cf_graph_exec exec)
{
    return destroy_graph("cf_graph_exec_destroy", "exec", CF__GRAPH_EXEC, exec);
}

static int fail_launch(const struct cf__driver *driver, CUresult result, cf_graph_exec exec, cf_stream stream)
{
    return cf__fail_handle(driver, result, "cuGraphLaunch", "cf_graph_launch", "exec", exec, stream);
}

static struct cf__inflight *note_launch(struct cf__context *context, cf_stream stream)
{
    return context ? cf__inflight_note(context->id, context->handle, cf__inflight_graph, stream) : NULL;
}

/* Returns 1 if the stream may be captured. The driver is only queried while a capture of the library is open, because
 * the query costs time. A capture that was ended without this library counts as open. */
static int may_be_captured(const struct cf__driver *driver, cf_stream stream)
{
    CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
    return __atomic_load_n(&cf__fast.captures, __ATOMIC_RELAXED) &&
           (driver->cuStreamIsCapturing(stream, &now) != CUDA_SUCCESS || now != CU_STREAM_CAPTURE_STATUS_NONE);
}

/* The fast path: launches on the last stream unless it is being captured, and stores a status. Returns 0 if the call
 * has to take the slow path. If the context was replaced without the library's knowledge, messages about a fault may
 * omit the graph. */
static int launch_on_last_stream(cf_graph_exec exec, cf_stream stream, int *status)
{
    const struct cf__driver *driver = cf__cpu_owns(exec) ? NULL : cf__last_stream_driver(stream);
    if (!driver || may_be_captured(driver, stream))
        return 0;
    struct cf__inflight *record = cf__inflight_note_again(cf__latest_stream.id, cf__inflight_graph, stream);
    if (!record)
        record = note_launch(cf__context_by_id(cf__latest_stream.id), stream);
    CUresult result = driver->cuGraphLaunch(exec, stream);
    cf__inflight_launched(record);
    *status = CF_OK;
    if (result == CUDA_SUCCESS)
        return 1;
    if (cf__needs_slow_path(result))
        return 0;
    *status = fail_launch(driver, result, exec, stream);
    return 1;
}

/* Fails for a stream that is being captured, because the launch would invalidate the capture. */
static int check_launch(const struct cf__scope *scope, cf_graph_exec exec, cf_stream stream)
{
    CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cf__cpu_owns(exec) != scope->driver->is_cpu)
        return cf__fail(CF_EINVAL, "cf_graph_launch: exec %p is of %s and stream %p of %s", (void *)exec,
                        cf__cpu_owns(exec) ? "CF_HOST" : "a GPU", (void *)stream,
                        scope->driver->is_cpu ? "CF_HOST" : "a GPU");
    int status = cf__capture_status("cf_graph_launch", scope, stream, &now);
    if (status == CF_OK && now != CU_STREAM_CAPTURE_STATUS_NONE)
        return cf__fail(CF_ECAPTURE,
                        "cf_graph_launch: stream %p is being captured, and graphs are not launched in graphs",
                        (void *)stream);
    return status;
}

/* Returns the record of the scope's context, which is added at the first use. Returns NULL on the CPU and after a
 * failure; the launch works without the record. */
static struct cf__context *get_context_record(const struct cf__scope *scope)
{
    struct cf__error before;
    struct cf__context *context = scope->driver->is_cpu ? NULL : cf__context_by_handle(scope->driver, scope->context);
    if (context || scope->driver->is_cpu)
        return context;
    cf__error_save(&before);
    int status = cf__scope_context(scope, "cf_graph_launch", &context);
    cf__error_restore(&before);
    return status == CF_OK ? context : NULL;
}

CF__HOT int cf_graph_launch(cf_graph_exec exec, cf_stream stream)
{
    if (!exec)
        return cf__fail(CF_EINVAL, "cf_graph_launch: exec is NULL");
    struct cf__scope scope;
    int status;
    if (launch_on_last_stream(exec, stream, &status))
        return status;
    status = cf__handle_check("cf_graph_launch", "exec", CF__GRAPH_EXEC, exec);
    if (status == CF_OK)
        status = cf__enter(&scope, "cf_graph_launch", stream);
    if (status != CF_OK)
        return status;
    status = check_launch(&scope, exec, stream);
    if (status == CF_OK) {
        struct cf__context *context = get_context_record(&scope);
        struct cf__inflight *record = note_launch(context, stream);
        CUresult result = scope.driver->cuGraphLaunch(exec, stream);
        cf__inflight_launched(record);
        if (result == CUDA_SUCCESS && context)
            cf__last_stream_set(stream, &scope, context->id);
        if (result != CUDA_SUCCESS)
            status = fail_launch(scope.driver, result, exec, stream);
    }
    cf__leave(&scope);
    return status;
}
