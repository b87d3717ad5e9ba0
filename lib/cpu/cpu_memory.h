/* cpu_memory.h - memory of the CPU driver. */
#ifndef CF__CPU_MEMORY_H
#define CF__CPU_MEMORY_H

#include <stddef.h>

#include "driver/driver.h"

/* Frees all memory at a reset. The caller holds the lock. */
void cf__cpu_memory_free(void);

/* Memory of a graph's allocation node, protected by the driver's lock. It has the same address from the capture until
 * it is freed and no graph owns it. */
struct cf__cpu_graph_memory {
    CUdeviceptr address;
    int owners;        /* number of nodes that refer to the memory */
    int is_allocated;  /* 1 from a run of the allocation node until the memory is freed */
    int has_free_node; /* 1 if a node frees the memory */
};

/* Creates memory of `bytes` bytes with one owner. */
CUresult cf__cpu_graph_memory_create(struct cf__cpu_graph_memory **memory, size_t bytes);

/* Removes one owner. The last one frees the memory, unless it is still allocated. The caller holds the lock. */
void cf__cpu_graph_memory_release(struct cf__cpu_graph_memory *memory);

/* Looks up the graph memory that begins at `address`; NULL for other memory. The caller holds the lock. */
struct cf__cpu_graph_memory *cf__cpu_graph_memory_find(CUdeviceptr address);

#endif
