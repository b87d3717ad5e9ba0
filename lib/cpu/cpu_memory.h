/* cpu_memory.h - memory of the CPU driver. */
#ifndef CF__CPU_MEMORY_H
#define CF__CPU_MEMORY_H

#include <stddef.h>

#include "driver/driver.h"

/* Frees all memory, at a reset. Caller holds the lock. */
void cf__cpu_memory_free(void);

/* Memory of a graph's allocation node. It exists from the capture on, at one address, until no graph owns it and it is
 * not allocated. The driver's lock guards it. */
struct cf__cpu_graph_memory {
    CUdeviceptr address;
    int owners;        /* nodes that refer to it */
    int is_allocated;  /* 1 from a run of the allocation node until it is freed */
    int has_free_node; /* 1 if a node frees it */
};

/* Creates memory of `bytes` with one owner. */
CUresult cf__cpu_graph_memory_create(struct cf__cpu_graph_memory **memory, size_t bytes);

/* Ends one ownership; frees the memory if it is the last and the memory is not allocated. Caller holds the lock. */
void cf__cpu_graph_memory_release(struct cf__cpu_graph_memory *memory);

/* Looks up the graph memory that begins at `address`; NULL for other memory. Caller holds the lock. */
struct cf__cpu_graph_memory *cf__cpu_graph_memory_find(CUdeviceptr address);

#endif
