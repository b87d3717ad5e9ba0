/* cpu_graph.h - graphs of the CPU driver. */
#ifndef CF__CPU_GRAPH_H
#define CF__CPU_GRAPH_H

#include <stddef.h>
#include <sys/types.h>

#include "driver/driver.h"
#include "cpu/cpu_stream.h"

struct cf__cpu_node;

/* The nodes of a graph, or an executable graph's copies of them. */
struct cf__cpu_graph {
    int owners;                   /* count of referring handles, runs and executable graphs; under the lock */
    int execs;                    /* count of executable graphs among the owners; under the lock */
    struct cf__cpu_graph *origin; /* graph from which an executable graph was made */
    int has_memory;               /* 1 if a node allocates or frees memory */
    pid_t runs_in;                /* process that is running the graph, or 0; a forked child ignores its parent's run */
    size_t count;
    struct cf__cpu_node *first, **last;
};

/* Removes one owner; the last one frees the graph. The caller holds the lock. */
void cf__cpu_graph_release(struct cf__cpu_graph *graph);

/* Returns 1 if a node is in the graph. The caller holds the lock. */
int cf__cpu_graph_has_node(const struct cf__cpu_graph *graph, const struct cf__cpu_node *node);

/* Changes the copy of `node` in an executable graph, after waiting for a run in flight. `change` is called under the
 * lock, with the copy and `data`. */
CUresult cf__cpu_graph_change(CUgraphExec exec, const struct cf__cpu_node *node,
                              CUresult (*change)(struct cf__cpu_node *copy, const void *data), const void *data);

/* Creates a handle, which takes over the caller's ownership of `graph`. Returns NULL, and releases the graph, if there
 * is no memory. */
void *cf__cpu_graph_handle(enum cf__cpu_handle_kind kind, struct cf__cpu_graph *graph);

/* Adds an allocation or a free to the graph of a stream that is being captured. */
CUresult cf__cpu_graph_add_alloc(struct cf__cpu_handle *stream, CUdeviceptr *pointer, size_t bytes);
CUresult cf__cpu_graph_add_free(struct cf__cpu_handle *stream, CUdeviceptr pointer);

#endif
