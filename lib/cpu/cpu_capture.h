/* cpu_capture.h - captures of the CPU driver's streams. */
#ifndef CF__CPU_CAPTURE_H
#define CF__CPU_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"
#include "cpu/cpu_stream.h"

/* A piece of work: the first member of a struct of `size` bytes that also holds the operands. */
struct cf__cpu_node {
    struct cf__cpu_node *next;
    size_t size;
    CUresult (*run)(struct cf__cpu_node *node);
    void (*destroy)(struct cf__cpu_node *node); /* frees the operands; the caller holds the lock; may be NULL */
    void (*copied)(struct cf__cpu_node *copy);  /* adjusts a bytewise copy; the caller holds the lock; may be NULL */
    int is_memory;                              /* 1 if the node allocates or frees memory */
};

/* Runs a node of `size` bytes at once or, if the stream is being captured, adds a copy of it to the graph. */
CUresult cf__cpu_enqueue(CUstream stream, struct cf__cpu_node *node, size_t size);

/* Adds a node that was allocated by malloc() to the graph of a captured stream. The graph then owns the node; on
 * failure the node is freed. A `node` of NULL means that malloc() failed, and invalidates the capture. */
CUresult cf__cpu_capture_add(struct cf__cpu_handle *stream, struct cf__cpu_node *node);

/* Returns 1 if a stream is being captured. */
static inline int cf__cpu_is_captured(const struct cf__cpu_handle *stream)
{
    return stream && __atomic_load_n(&stream->capture, __ATOMIC_ACQUIRE) != NULL;
}

/* Invalidates the capture of a stream, because the caller waits for the stream, queries it or launches a graph in it.
 * Returns the driver's error for that. */
CUresult cf__cpu_capture_break(struct cf__cpu_handle *stream);

/* Returns the error for a wait for, or a query of, an event whose latest record is in the capture with this number. */
CUresult cf__cpu_capture_check_event(uint64_t number);

/* Returns 1 if a node is in the graph of an open capture. The caller holds the lock. */
int cf__cpu_capture_has_node(const struct cf__cpu_node *node);

/* Releases a slot's capture, nodes and graph before the slot is freed. The caller holds the lock. */
void cf__cpu_handle_release(struct cf__cpu_handle *slot);

#endif
