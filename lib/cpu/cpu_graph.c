/* host_graph.c - graphs of the CPU driver. A graph is the list of the nodes in the order in which they were captured,
 * which holds every dependency between them, and a run of it goes through the list. */
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
    free(graph);
}

void *cf__cpu_graph_handle(enum cf__cpu_kind kind, struct cf__cpu_graph *graph)
{
    void *handle = cf__cpu_handle_create(kind, graph);
    if (handle)
        return handle;
    cf__cpu_lock();
    graph->execs -= kind == CF__CPU_EXEC;
    cf__cpu_graph_release(graph);
    cf__cpu_unlock();
    return NULL;
}

/* ---- Nodes ---- */

struct call {
    struct cf__cpu_node node;
    void (*function)(void *data);
    void *data;
};

static CUresult run_call(struct cf__cpu_node *node)
{
    const struct call *call = (const struct call *)node;
    call->function(call->data);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuLaunchHostFunc(CUstream stream, void (*function)(void *data), void *data)
{
    struct call call = {{.run = run_call}, function, data};
    return function ? cf__cpu_enqueue(stream, &call.node, sizeof call) : CUDA_ERROR_INVALID_VALUE;
}

struct memory {
    struct cf__cpu_node node;
    struct cf__cpu_block *block;
};

static CUresult run_alloc(struct cf__cpu_node *node)
{
    cf__cpu_lock();
    ((struct memory *)node)->block->is_allocated = 1;
    cf__cpu_unlock();
    return CUDA_SUCCESS;
}

static CUresult run_free(struct cf__cpu_node *node)
{
    cf__cpu_lock();
    ((struct memory *)node)->block->is_allocated = 0;
    cf__cpu_unlock();
    return CUDA_SUCCESS;
}

static void destroy_memory(struct cf__cpu_node *node)
{
    cf__cpu_block_release(((struct memory *)node)->block);
}

static CUresult add_memory_node(struct cf__cpu_handle *stream, CUresult (*run)(struct cf__cpu_node *node),
                                struct cf__cpu_block *block)
{
    struct memory *memory = malloc(sizeof *memory);
    if (!memory) {
        cf__cpu_lock();
        cf__cpu_block_release(block);
        cf__cpu_unlock();
        return cf__cpu_capture_add(stream, NULL);
    }
    *memory = (struct memory){{.run = run, .destroy = destroy_memory, .is_memory = 1}, block};
    return cf__cpu_capture_add(stream, &memory->node);
}

CUresult cf__cpu_capture_alloc(struct cf__cpu_handle *stream, CUdeviceptr *pointer, size_t bytes)
{
    struct cf__cpu_block *block;
    CUresult result = cf__cpu_block_create(&block, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    CUdeviceptr address = block->address;
    result = add_memory_node(stream, run_alloc, block);
    if (result == CUDA_SUCCESS)
        *pointer = address;
    return result;
}

/* A graph frees what a graph has allocated. */
CUresult cf__cpu_capture_free(struct cf__cpu_handle *stream, CUdeviceptr pointer)
{
    cf__cpu_lock();
    struct cf__cpu_block *block = cf__cpu_block_find(pointer);
    int is_free = block && !block->has_end;
    if (is_free) {
        block->owners++;
        block->has_end = 1;
    }
    cf__cpu_unlock();
    return is_free ? add_memory_node(stream, run_free, block) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Executable graphs ---- */

/* With the lock, of which it lets go while it waits: one run at a time. */
static void wait_for_run(struct cf__cpu_graph *graph)
{
    while (graph->runs_in && graph->runs_in == getpid()) {
        cf__cpu_unlock();
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        cf__cpu_lock();
    }
}

/* With the lock: memory that is still allocated since the last run cannot be allocated again. */
static CUresult check_memory(const struct cf__cpu_graph *graph)
{
    for (const struct cf__cpu_node *node = graph->has_memory ? graph->first : NULL; node; node = node->next)
        if (node->run == run_alloc && ((const struct memory *)node)->block->is_allocated)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Runs a graph that the caller owns. */
static CUresult run(struct cf__cpu_graph *graph)
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
    struct cf__cpu_graph *shared = slot ? slot->graph : NULL;
    if (!shared)
        result = CUDA_ERROR_INVALID_VALUE;
    else if (shared->has_memory && shared->execs)
        result = CUDA_ERROR_NOT_SUPPORTED; /* two would allocate at one address */
    if (result == CUDA_SUCCESS) {
        shared->owners++;
        shared->execs++;
    }
    cf__cpu_unlock();
    if (result != CUDA_SUCCESS)
        return result;
    *exec = cf__cpu_graph_handle(CF__CPU_EXEC, shared);
    return *exec ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
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
    CUresult result = cf__cpu_stream(stream, &slot);
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
        result = run(graph);
    cf__cpu_lock();
    cf__cpu_graph_release(graph);
    cf__cpu_unlock();
    return result;
}
