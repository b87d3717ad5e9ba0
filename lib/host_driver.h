/* host_driver.h - what the files of the CPU driver share: driver_host.c, host_memory.c, host_stream.c, host_capture.c,
 * host_graph.c. */
#ifndef CF__HOST_DRIVER_H
#define CF__HOST_DRIVER_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "internal.h"

/* Every function of the driver's list. */
#define CF__HOST_DECLARE(name, version, parameters, names) CUresult cf__host_##name parameters;
CF__DRIVER_FUNCS(CF__HOST_DECLARE)
#undef CF__HOST_DECLARE

/* The only context; its address is what counts. */
struct CUctx_st {
    int unused;
};
extern struct CUctx_st cf__host_context;

/* ---- driver_host.c ---- */

/* The processor's name, by what the system says in the form of /proc/cpuinfo. */
void cf__host_processor(FILE *info, char *name, size_t size);

/* ---- host_memory.c ---- */

/* All memory, at a reset; with the lock. */
void cf__host_memory_free(void);

/* Memory of a graph's allocation node: it is there from capture on, at one address, and counts as allocated from a
 * launch until it is freed. It goes when it is not allocated and no graph has it. */
struct cf__host_block {
    CUdeviceptr address;
    int owners; /* graphs and executable graphs; under the lock, like what follows */
    int is_allocated;
    int has_end; /* a node frees it */
};
CUresult cf__host_block_create(struct cf__host_block **block, size_t bytes);
void cf__host_block_release(struct cf__host_block *block);       /* by an owner; with the lock */
struct cf__host_block *cf__host_block_find(CUdeviceptr address); /* with the lock; NULL for other memory */

/* ---- host_stream.c ---- */

enum cf__host_kind { CF__HOST_FREE, CF__HOST_STREAM, CF__HOST_EVENT, CF__HOST_POOL, CF__HOST_GRAPH, CF__HOST_EXEC };

/* Nodes of a capture: those that lie before a point in a stream, or before an event. */
struct cf__host_nodes {
    size_t words;
    uint64_t bits[];
};

/* What a handle stands for. */
struct cf__host_handle {
    int kind;            /* atomic */
    uint32_t generation; /* how often the slot was freed; the low bits are part of the handle */
    struct cf__host_handle *next_free;
    int64_t time;                     /* events: nanoseconds; 0 until recorded; atomic */
    struct cf__host_capture *capture; /* streams: that they take part in; atomic, written under the lock */
    uint64_t captured_in;             /* events: number of the capture where they were recorded last; 0: none; atomic */
    struct cf__host_nodes *nodes;     /* of that capture; under the lock */
    struct cf__host_handle *next_captured; /* streams: that take part in the same capture; under the lock */
    struct cf__host_graph *graph;          /* of graphs and executable graphs */
};

CUresult cf__host_handle_create(enum cf__host_kind kind, void **handle, struct cf__host_handle **slot);

/* The slot of a live handle of a kind; NULL for any other value. */
struct cf__host_handle *cf__host_handle(const void *handle, enum cf__host_kind kind);

/* Frees a slot; with the lock. */
void cf__host_handle_free(struct cf__host_handle *slot);

/* The slot of a stream, NULL for the default ones; CUDA_ERROR_INVALID_HANDLE for what is no stream. */
CUresult cf__host_stream(CUstream stream, struct cf__host_handle **slot);

/* ---- host_capture.c ---- */

/* A piece of work; what it works on lies behind it. */
struct cf__host_node {
    struct cf__host_node *next;
    CUresult (*run)(struct cf__host_node *node);
    void (*destroy)(struct cf__host_node *node); /* gives back what it refers to, with the lock; may be NULL */
    int is_memory;                               /* allocates or frees */
};

/* Runs a node of `size` bytes now or, where the stream is being captured, adds a copy of it to the graph. */
CUresult cf__host_enqueue(CUstream stream, struct cf__host_node *node, size_t size);

/* Adds a node from malloc() to the graph that a stream is captured in; frees it where that fails. */
CUresult cf__host_capture_add(struct cf__host_handle *stream, struct cf__host_node *node);

/* Whether the stream of a slot is being captured. */
static inline int cf__host_is_captured(const struct cf__host_handle *stream)
{
    return stream && __atomic_load_n(&stream->capture, __ATOMIC_ACQUIRE) != NULL;
}

/* What a wait, a query or the launch of a graph gives in a captured stream: an error that breaks the capture. */
CUresult cf__host_capture_break(struct cf__host_handle *stream);

/* What asking an event gives that was last recorded in the capture of this number. */
CUresult cf__host_captured_event(uint64_t number);

/* Frees what a slot refers to, at its end; with the lock. */
void cf__host_handle_drop(struct cf__host_handle *slot);

/* ---- host_graph.c ---- */

/* What a graph and the executable graphs made of it share; it does not change once it is captured. */
struct cf__host_graph {
    int owners; /* handles and runs; under the lock */
    int execs;  /* executable graphs among them */
    int has_memory;
    pid_t runs_in; /* process that is running it; 0: none. A child of fork() does not wait for its parent's run. */
    size_t count;
    struct cf__host_node *first, **last;
};

/* Gives an owner's part back; with the lock. */
void cf__host_graph_release(struct cf__host_graph *graph);

/* A handle that owns `graph`; the caller's ownership goes to it, or is given back where there is no handle left. */
CUresult cf__host_graph_handle(enum cf__host_kind kind, struct cf__host_graph *graph, void **handle);

/* Allocation and release in a stream that is being captured. */
CUresult cf__host_capture_alloc(CUstream stream, CUdeviceptr *pointer, size_t bytes);
CUresult cf__host_capture_free(CUstream stream, CUdeviceptr pointer);

#endif
