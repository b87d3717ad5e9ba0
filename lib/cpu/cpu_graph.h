/* cpu_graph.h - graphs of the CPU driver. */
#ifndef CF__CPU_GRAPH_H
#define CF__CPU_GRAPH_H

#include <stddef.h>
#include <sys/types.h>

#include "driver/driver.h"
#include "cpu/cpu_stream.h"

struct cf__cpu_node;

/* The nodes of a graph, or of an executable graph, which has copies of them. */
struct cf__cpu_graph {
    int owners;                   /* handles, runs and executable graphs; guarded by the lock */
    int execs;                    /* executable graphs among them; guarded by the lock */
    struct cf__cpu_graph *origin; /* of an executable graph: the graph that it was made of */
    int has_memory;               /* 1 if a node allocates or frees memory */
    pid_t runs_in;                /* process that is running it, 0: none; a forked child ignores its parent's run */
    size_t count;
    struct cf__cpu_node *first, **last;
};

/* Ends one ownership; the last frees the graph. Caller holds the lock. */
void cf__cpu_graph_release(struct cf__cpu_graph *graph);

/* Returns 1 if a node is in the graph. Caller holds the lock. */
int cf__cpu_graph_has_node(const struct cf__cpu_graph *graph, const struct cf__cpu_node *node);

/* Changes the node of an executable graph that was copied from `node`, and waits for a run in flight first. `change`
 * gets the copy and `data`; it is called under the lock. */
CUresult cf__cpu_graph_change(CUgraphExec exec, const struct cf__cpu_node *node,
                              CUresult (*change)(struct cf__cpu_node *copy, const void *data), const void *data);

/* Creates a handle, to which the caller's ownership of `graph` passes. Returns NULL, and releases the graph, if there
 * is no memory. */
void *cf__cpu_graph_handle(enum cf__cpu_handle_kind kind, struct cf__cpu_graph *graph);

/* Adds an allocation or a release to the graph of a stream that is being captured. */
CUresult cf__cpu_graph_add_alloc(struct cf__cpu_handle *stream, CUdeviceptr *pointer, size_t bytes);
CUresult cf__cpu_graph_add_free(struct cf__cpu_handle *stream, CUdeviceptr pointer);

#endif
