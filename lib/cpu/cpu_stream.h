/* cpu_stream.h - handles, streams and events of the CPU driver. */
#ifndef CF__CPU_STREAM_H
#define CF__CPU_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct cf__cpu_graph;
struct cf__cpu_node;

enum cf__cpu_handle_kind { CF__CPU_FREE, CF__CPU_STREAM, CF__CPU_EVENT, CF__CPU_POOL, CF__CPU_GRAPH, CF__CPU_EXEC };

/* A set of a capture's nodes: all nodes before a point in a stream, or before an event. */
struct cf__cpu_node_set {
    size_t words;
    uint64_t bits[];
};

/* The slot of a handle. The driver's lock guards fields that are not atomic. */
struct cf__cpu_handle {
    int kind;            /* enum cf__cpu_handle_kind; atomic */
    uint32_t generation; /* number of times that the slot was freed; its low bits are part of the handle */
    struct cf__cpu_handle *next_free;
    union {
        int64_t time;                /* events: time of the record in ns; 0: never recorded; atomic */
        struct cf__cpu_node *latest; /* streams and events in a capture: node that follows all others; NULL: none */
    };
    struct cf__cpu_capture *capture; /* streams: capture that they take part in; atomic */
    uint64_t captured_in;            /* events: number of the capture of the latest record; 0: none; atomic */
    struct cf__cpu_node_set *nodes;  /* nodes of that capture before this point */
    union {
        struct cf__cpu_handle *next_captured; /* streams: next stream of the same capture */
        int has_no_time;                      /* events: made without timing; constant */
    };
    struct cf__cpu_graph *graph; /* of graphs and executable graphs */
};

/* Creates a handle; NULL if there is no memory. `graph`: for graphs and executable graphs, whose owner it becomes. */
void *cf__cpu_handle_create(enum cf__cpu_handle_kind kind, struct cf__cpu_graph *graph);

/* Frees the slot of a handle; the driver's error for a value that is no live handle of the kind. */
CUresult cf__cpu_handle_destroy(const void *handle, enum cf__cpu_handle_kind kind);

/* Returns the slot of a live handle of a kind; NULL for any other value. */
struct cf__cpu_handle *cf__cpu_handle_find(const void *handle, enum cf__cpu_handle_kind kind);

/* Returns 1 if a node is in a graph that has a handle, or in an open capture. Caller holds the lock. */
int cf__cpu_handle_has_node(const struct cf__cpu_node *node);

/* Looks up the slot of a stream: NULL for the default streams, CUDA_ERROR_INVALID_HANDLE for other values. */
CUresult cf__cpu_stream_find(CUstream stream, struct cf__cpu_handle **slot);

/* Reports whether cf__cpu_reset() has freed a handle of the CPU driver. */
int cf__cpu_handle_is_stale(const void *handle);

/* Frees all memory, handles and threads of the CPU driver. */
void cf__cpu_reset(void);

/* Unmaps the address range of the handles, at the end of the shared object. */
void cf__cpu_handles_unmap(void);

#endif
