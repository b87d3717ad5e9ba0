/* cpu_graph.c - graphs of the CPU driver. A graph is the list of its nodes in the order of their capture, which
 * satisfies every dependency. A run executes the list in that order. An executable graph has copies of the nodes. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cpu/cpu_graph.h"

#include "driver/driver.h"
#include "cpu/cpu_capture.h"
#include "cpu/cpu_memory.h"
#include "cpu/cpu_stream.h"
#include "cpu/driver_cpu.h"

/* ---- Graphs ---- */

void cf__cpu_graph_release(struct cf__cpu_graph *graph)
{
    if (--graph->owners > 0)
        return;
    for (struct cf__cpu_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        if (node->destroy)
            node->destroy(node);
        free(node);
    }
    struct cf__cpu_graph *origin = graph->origin;
    free(graph);
    if (origin) {
        origin->execs--;
        cf__cpu_graph_release(origin);
    }
}

int cf__cpu_graph_has_node(const struct cf__cpu_graph *graph, const struct cf__cpu_node *node)
{
    const struct cf__cpu_node *other = graph->first;
    while (other && other != node)
        other = other->next;
    return other != NULL;
}

/* Returns a graph with copies of the nodes, owned by the caller; NULL if there is no memory. The caller holds the
 * lock. */
static struct cf__cpu_graph *copy_graph(struct cf__cpu_graph *origin)
{
    struct cf__cpu_graph *graph = malloc(sizeof *graph);
    if (!graph)
        return NULL;
    *graph = (struct cf__cpu_graph){
        .owners = 1, .origin = origin, .has_memory = origin->has_memory, .count = origin->count, .last = &graph->first};
    origin->owners++;
    origin->execs++;
    for (const struct cf__cpu_node *node = origin->first; node; node = node->next) {
        struct cf__cpu_node *copy = malloc(node->size);
        if (!copy) {
            cf__cpu_graph_release(graph);
            return NULL;
        }
        memcpy(copy, node, node->size);
        copy->next = NULL;
        if (copy->copied)
            copy->copied(copy);
        *graph->last = copy;
        graph->last = &copy->next;
    }
    return graph;
}

void *cf__cpu_graph_handle(enum cf__cpu_handle_kind kind, struct cf__cpu_graph *graph)
{
    void *handle = cf__cpu_handle_create(kind, graph);
    if (handle)
        return handle;
    cf__cpu_lock();
    cf__cpu_graph_release(graph);
    cf__cpu_unlock();
    return NULL;
}

/* ---- Nodes ---- */

struct call_node {
    struct cf__cpu_node node;
    void (*function)(void *data);
    void *data;
};

static CUresult run_call(struct cf__cpu_node *node)
{
    const struct call_node *call = (const struct call_node *)node;
    call->function(call->data);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuLaunchHostFunc(CUstream stream, void (*function)(void *data), void *data)
{
    struct call_node call = {{.run = run_call}, function, data};
    return function ? cf__cpu_enqueue(stream, &call.node, sizeof call) : CUDA_ERROR_INVALID_VALUE;
}

struct memory_node {
    struct cf__cpu_node node;
    struct cf__cpu_graph_memory *memory;
};

static CUresult run_alloc(struct cf__cpu_node *node)
{
    cf__cpu_lock();
    ((struct memory_node *)node)->memory->is_allocated = 1;
    cf__cpu_unlock();
    return CUDA_SUCCESS;
}

static CUresult run_free(struct cf__cpu_node *node)
{
    cf__cpu_lock();
    ((struct memory_node *)node)->memory->is_allocated = 0;
    cf__cpu_unlock();
    return CUDA_SUCCESS;
}

static void destroy_memory(struct cf__cpu_node *node)
{
    cf__cpu_graph_memory_release(((struct memory_node *)node)->memory);
}

/* The caller holds the lock. */
static void copy_memory(struct cf__cpu_node *node)
{
    ((struct memory_node *)node)->memory->owners++;
}

static CUresult add_memory_node(struct cf__cpu_handle *stream, CUresult (*run)(struct cf__cpu_node *node),
                                struct cf__cpu_graph_memory *memory)
{
    struct memory_node *node = malloc(sizeof *node);
    if (!node) {
        cf__cpu_lock();
        cf__cpu_graph_memory_release(memory);
        cf__cpu_unlock();
        return cf__cpu_capture_add(stream, NULL);
    }
    *node = (struct memory_node){
        {.size = sizeof *node, .run = run, .destroy = destroy_memory, .copied = copy_memory, .is_memory = 1}, memory};
    return cf__cpu_capture_add(stream, &node->node);
}

CUresult cf__cpu_graph_add_alloc(struct cf__cpu_handle *stream, CUdeviceptr *pointer, size_t bytes)
{
    struct cf__cpu_graph_memory *memory;
    CUresult result = cf__cpu_graph_memory_create(&memory, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    CUdeviceptr address = memory->address;
    result = add_memory_node(stream, run_alloc, memory);
    if (result == CUDA_SUCCESS)
        *pointer = address;
    return result;
}

/* A graph frees only memory that a graph has allocated, and at most one node frees it. */
CUresult cf__cpu_graph_add_free(struct cf__cpu_handle *stream, CUdeviceptr pointer)
{
    cf__cpu_lock();
    struct cf__cpu_graph_memory *memory = cf__cpu_graph_memory_find(pointer);
    int is_valid = memory && !memory->has_free_node;
    if (is_valid) {
        memory->owners++;
        memory->has_free_node = 1;
    }
    cf__cpu_unlock();
    return is_valid ? add_memory_node(stream, run_free, memory) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Executable graphs ---- */

/* Waits for a run of the graph in this process, because only one run at a time is allowed. The caller holds the lock,
 * which is released during the wait. */
static void wait_for_run(struct cf__cpu_graph *graph)
{
    while (graph->runs_in && graph->runs_in == getpid()) {
        cf__cpu_unlock();
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        cf__cpu_lock();
    }
}

/* Fails if memory that the graph allocated in its last run has not been freed. The caller holds the lock. */
static CUresult check_memory(const struct cf__cpu_graph *graph)
{
    for (const struct cf__cpu_node *node = graph->has_memory ? graph->first : NULL; node; node = node->next)
        if (node->run == run_alloc && ((const struct memory_node *)node)->memory->is_allocated)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Runs a graph. The caller owns a reference, so that the graph exists until the run ends. */
static CUresult run_graph(struct cf__cpu_graph *graph)
{
    cf__cpu_lock();
    wait_for_run(graph);
    CUresult result = check_memory(graph);
    if (result == CUDA_SUCCESS)
        graph->runs_in = getpid();
    cf__cpu_unlock();
    if (result != CUDA_SUCCESS)
        return result;
    for (struct cf__cpu_node *node = graph->first; node && result == CUDA_SUCCESS; node = node->next)
        result = node->run(node);
    cf__cpu_lock();
    graph->runs_in = 0;
    cf__cpu_unlock();
    return result;
}

CUresult cf__cpu_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CUresult result = flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    cf__cpu_lock();
    const struct cf__cpu_handle *slot = cf__cpu_handle_find(graph, CF__CPU_GRAPH);
    struct cf__cpu_graph *origin = slot ? slot->graph : NULL, *copy = NULL;
    if (!origin)
        result = CUDA_ERROR_INVALID_VALUE;
    else if (origin->has_memory && origin->execs)
        result = CUDA_ERROR_NOT_SUPPORTED; /* two executable graphs would allocate at the same address */
    if (result == CUDA_SUCCESS && !(copy = copy_graph(origin)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    cf__cpu_unlock();
    if (result != CUDA_SUCCESS)
        return result;
    *exec = cf__cpu_graph_handle(CF__CPU_EXEC, copy);
    return *exec ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cf__cpu_graph_change(CUgraphExec exec, const struct cf__cpu_node *node,
                              CUresult (*change)(struct cf__cpu_node *copy, const void *data), const void *data)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    cf__cpu_lock();
    const struct cf__cpu_handle *slot = cf__cpu_handle_find(exec, CF__CPU_EXEC);
    struct cf__cpu_graph *graph = slot ? slot->graph : NULL;
    if (graph) {
        graph->owners++;
        wait_for_run(graph);
        const struct cf__cpu_node *other = graph->origin->first;
        struct cf__cpu_node *copy = graph->first;
        for (; other && other != node; other = other->next)
            copy = copy->next;
        result = other ? change(copy, data) : CUDA_ERROR_INVALID_VALUE;
        cf__cpu_graph_release(graph);
    }
    cf__cpu_unlock();
    return result;
}

CUresult cf__cpu_cuGraphDestroy(CUgraph graph)
{
    return cf__cpu_handle_destroy(graph, CF__CPU_GRAPH);
}

CUresult cf__cpu_cuGraphExecDestroy(CUgraphExec exec)
{
    return cf__cpu_handle_destroy(exec, CF__CPU_EXEC);
}

CUresult cf__cpu_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    cf__cpu_lock();
    const struct cf__cpu_handle *of_exec = cf__cpu_handle_find(exec, CF__CPU_EXEC);
    struct cf__cpu_graph *graph = of_exec ? of_exec->graph : NULL;
    if (graph)
        graph->owners++;
    cf__cpu_unlock();
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (cf__cpu_is_captured(slot))
        result = cf__cpu_capture_break(slot);
    else
        result = run_graph(graph);
    cf__cpu_lock();
    cf__cpu_graph_release(graph);
    cf__cpu_unlock();
    return result;
}
