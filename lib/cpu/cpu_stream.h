/* cpu_stream.h - handles, streams and events of the CPU driver. */
#ifndef CF__CPU_STREAM_H
#define CF__CPU_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct cf__cpu_graph;
struct cf__cpu_node;

enum cf__cpu_handle_kind { CF__CPU_FREE, CF__CPU_STREAM, CF__CPU_EVENT, CF__CPU_POOL, CF__CPU_GRAPH, CF__CPU_EXEC };

/* A set of nodes of a capture: all nodes that precede a point in a stream, or that precede an event. */
struct cf__cpu_node_set {
    size_t words;
    uint64_t bits[];
};

/* The slot of a handle. The driver's lock protects the fields that are not atomic. */
struct cf__cpu_handle {
    int kind;            /* enum cf__cpu_handle_kind; atomic */
    uint32_t generation; /* number of times that the slot was freed; its low bits are part of the handle */
    struct cf__cpu_handle *next_free;
    union {
        int64_t time;                /* events: time of the latest record in ns; 0: never recorded; atomic */
        struct cf__cpu_node *latest; /* streams and events in a capture: node that follows all others, or NULL */
    };
    struct cf__cpu_capture *capture; /* streams: capture in which the stream participates; atomic */
    uint64_t captured_in;            /* events: number of the capture of the latest record, or 0; atomic */
    struct cf__cpu_node_set *nodes;  /* streams and events in a capture: nodes that precede this point */
    union {
        struct cf__cpu_handle *next_captured; /* streams: next stream of the same capture */
        int has_no_time;                      /* events: 1 if created without timing; constant */
    };
    struct cf__cpu_graph *graph; /* graphs and executable graphs: nodes */
};

/* Creates a handle; returns NULL if there is no memory. The handle of a graph or executable graph owns `graph`. */
void *cf__cpu_handle_create(enum cf__cpu_handle_kind kind, struct cf__cpu_graph *graph);

/* Frees the slot of a handle. Returns the driver's error for a value that is no live handle of the kind. */
CUresult cf__cpu_handle_destroy(const void *handle, enum cf__cpu_handle_kind kind);

/* Returns the slot of a live handle of the kind, or NULL for any other value. */
struct cf__cpu_handle *cf__cpu_handle_find(const void *handle, enum cf__cpu_handle_kind kind);

/* Returns 1 if a node is in a graph that has a handle, or in an open capture. The caller holds the lock. */
int cf__cpu_handle_has_node(const struct cf__cpu_node *node);

/* Looks up the slot of a stream, which is NULL for the default streams. Returns CUDA_ERROR_INVALID_HANDLE for a value
 * that is no stream. */
CUresult cf__cpu_stream_find(CUstream stream, struct cf__cpu_handle **slot);

/* Returns 1 if cf__cpu_reset() has freed the handle of the CPU driver. */
int cf__cpu_handle_is_stale(const void *handle);

/* Frees all memory, handles and threads of the CPU driver. */
void cf__cpu_reset(void);

/* Unmaps the address range of the handles when the shared object is unloaded. */
void cf__cpu_handles_unmap(void);

#endif
