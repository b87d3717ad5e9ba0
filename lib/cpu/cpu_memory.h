/* cpu_memory.h - memory of the CPU as a device. */
#ifndef CF__CPU_MEMORY_H
#define CF__CPU_MEMORY_H

#include <stddef.h>

#include "driver/driver.h"

/* All memory, at a reset; with the lock. */
void cf__cpu_memory_free(void);

/* Memory of a graph's allocation node: it is there from capture on, at one address, and counts as allocated from a
 * launch until it is freed. It goes when it is not allocated and no graph has it. */
struct cf__cpu_block {
    CUdeviceptr address;
    int owners; /* graphs and executable graphs; under the lock, like what follows */
    int is_allocated;
    int has_end; /* a node frees it */
};
CUresult cf__cpu_block_create(struct cf__cpu_block **block, size_t bytes);
void cf__cpu_block_release(struct cf__cpu_block *block);       /* by an owner; with the lock */
struct cf__cpu_block *cf__cpu_block_find(CUdeviceptr address); /* with the lock; NULL for other memory */

#endif
