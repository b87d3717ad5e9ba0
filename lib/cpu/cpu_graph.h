/* cpu_graph.h - graphs on the CPU. */
#ifndef CF__CPU_GRAPH_H
#define CF__CPU_GRAPH_H

#include <stddef.h>
#include <sys/types.h>

#include "driver/driver.h"
#include "cpu/cpu_stream.h"

struct cf__cpu_node;

/* What a graph and the executable graphs made of it share; it does not change once it is captured. */
struct cf__cpu_graph {
    int owners; /* handles and runs; under the lock */
    int execs;  /* executable graphs among them */
    int has_memory;
    pid_t runs_in; /* process that is running it; 0: none. A child of fork() does not wait for its parent's run. */
    size_t count;
    struct cf__cpu_node *first, **last;
};

/* Gives an owner's part back; with the lock. */
void cf__cpu_graph_release(struct cf__cpu_graph *graph);

/* A handle that owns `graph`; the caller's ownership goes to it, or is given back where there is no handle left. */
void *cf__cpu_graph_handle(enum cf__cpu_kind kind, struct cf__cpu_graph *graph);

/* Allocation and release in a stream that is being captured. */
CUresult cf__cpu_capture_alloc(struct cf__cpu_handle *stream, CUdeviceptr *pointer, size_t bytes);
CUresult cf__cpu_capture_free(struct cf__cpu_handle *stream, CUdeviceptr pointer);

#endif
