/* cpu_capture.h - captures on the CPU. */
#ifndef CF__CPU_CAPTURE_H
#define CF__CPU_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"
#include "cpu/cpu_stream.h"

/* A piece of work; what it works on lies behind it. */
struct cf__cpu_node {
    struct cf__cpu_node *next;
    CUresult (*run)(struct cf__cpu_node *node);
    void (*destroy)(struct cf__cpu_node *node); /* gives back what it refers to, with the lock; may be NULL */
    int is_memory;                              /* allocates or frees */
};

/* Runs a node of `size` bytes now or, where the stream is being captured, adds a copy of it to the graph. */
CUresult cf__cpu_enqueue(CUstream stream, struct cf__cpu_node *node, size_t size);

/* Adds a node from malloc() to the graph that a stream is captured in; frees it where that fails. */
CUresult cf__cpu_capture_add(struct cf__cpu_handle *stream, struct cf__cpu_node *node);

/* Whether the stream of a slot is being captured. */
static inline int cf__cpu_is_captured(const struct cf__cpu_handle *stream)
{
    return stream && __atomic_load_n(&stream->capture, __ATOMIC_ACQUIRE) != NULL;
}

/* What a wait, a query or the launch of a graph gives in a captured stream: an error that breaks the capture. */
CUresult cf__cpu_capture_break(struct cf__cpu_handle *stream);

/* What asking an event gives that was last recorded in the capture of this number. */
CUresult cf__cpu_captured_event(uint64_t number);

/* Frees what a slot refers to, at its end; with the lock. */
void cf__cpu_handle_drop(struct cf__cpu_handle *slot);

#endif
