/* cpu_capture.h - captures of the CPU driver's streams. */
#ifndef CF__CPU_CAPTURE_H
#define CF__CPU_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"
#include "cpu/cpu_stream.h"

/* A piece of work, and the first member of a struct of `size` bytes with its operands. */
struct cf__cpu_node {
    struct cf__cpu_node *next;
    size_t size;
    CUresult (*run)(struct cf__cpu_node *node);
    void (*destroy)(struct cf__cpu_node *node); /* releases the operands, caller holds the lock; may be NULL */
    void (*copied)(struct cf__cpu_node *copy);  /* completes a copy of the bytes; caller holds the lock; may be NULL */
    int is_memory;                              /* 1 if it allocates or frees memory */
};

/* Runs a node of `size` bytes now or, if the stream is being captured, adds a copy of it to the graph. */
CUresult cf__cpu_enqueue(CUstream stream, struct cf__cpu_node *node, size_t size);

/* Adds a node from malloc() to the graph of a captured stream, which then owns it; frees it on failure. NULL stands for
 * a failed malloc(), and breaks the capture. */
CUresult cf__cpu_capture_add(struct cf__cpu_handle *stream, struct cf__cpu_node *node);

/* Reports whether a stream is being captured. */
static inline int cf__cpu_is_captured(const struct cf__cpu_handle *stream)
{
    return stream && __atomic_load_n(&stream->capture, __ATOMIC_ACQUIRE) != NULL;
}

/* Breaks the capture of a stream. Returns the error for a wait, a query or the launch of a graph in it. */
CUresult cf__cpu_capture_break(struct cf__cpu_handle *stream);

/* Returns the error for a wait or a query of an event that was last recorded in the capture of this number. */
CUresult cf__cpu_capture_check_event(uint64_t number);

/* Returns 1 if a node is in the graph of an open capture. Caller holds the lock. */
int cf__cpu_capture_has_node(const struct cf__cpu_node *node);

/* Releases a slot's capture, nodes and graph before the slot is freed. Caller holds the lock. */
void cf__cpu_handle_release(struct cf__cpu_handle *slot);

#endif
