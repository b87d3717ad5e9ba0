/* cpu_stream.h - streams, events and handles of the CPU. */
#ifndef CF__CPU_STREAM_H
#define CF__CPU_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct cf__cpu_graph;

enum cf__cpu_kind { CF__CPU_FREE, CF__CPU_STREAM, CF__CPU_EVENT, CF__CPU_POOL, CF__CPU_GRAPH, CF__CPU_EXEC };

/* Nodes of a capture: those that lie before a point in a stream, or before an event. */
struct cf__cpu_nodes {
    size_t words;
    uint64_t bits[];
};

/* What a handle stands for. */
struct cf__cpu_handle {
    int kind;            /* atomic */
    uint32_t generation; /* how often the slot was freed; the low bits are part of the handle */
    struct cf__cpu_handle *next_free;
    int64_t time;                    /* events: nanoseconds; 0 until recorded; atomic */
    struct cf__cpu_capture *capture; /* streams: that they take part in; atomic, written under the lock */
    uint64_t captured_in;            /* events: number of the capture where they were recorded last; 0: none; atomic */
    struct cf__cpu_nodes *nodes;     /* of that capture; under the lock */
    struct cf__cpu_handle *next_captured; /* streams: that take part in the same capture; under the lock */
    struct cf__cpu_graph *graph;          /* of graphs and executable graphs */
};

/* Creates a handle; NULL if there is no memory. `graph`: for graphs and executable graphs, whose owner it becomes. */
void *cf__cpu_handle_create(enum cf__cpu_kind kind, struct cf__cpu_graph *graph);

/* Frees the slot of a handle; the driver's error for a value that is no live handle of the kind. */
CUresult cf__cpu_handle_destroy(const void *handle, enum cf__cpu_kind kind);

/* The slot of a live handle of a kind; NULL for any other value. */
struct cf__cpu_handle *cf__cpu_handle_find(const void *handle, enum cf__cpu_kind kind);

/* The slot of a stream, NULL for the default ones; CUDA_ERROR_INVALID_HANDLE for what is no stream. */
CUresult cf__cpu_stream(CUstream stream, struct cf__cpu_handle **slot);

/* Whether a handle was the CPU driver's, and cf__cpu_reset() has freed it. */
int cf__cpu_is_past(const void *handle);

/* Frees all memory, streams, events and threads of the CPU driver; at the end of the shared object the addresses of its
 * handles, too. */
void cf__cpu_reset(void);
void cf__cpu_end(void);

#endif
