/* fake_ask.h - what tests ask of the fake NVIDIA driver beside the driver API; they find it with dlsym(). */
#ifndef FAKE_ASK_H
#define FAKE_ASK_H

#include <cuferry/registry.h>

/* What it says of block(auto): a block that nobody would choose. */
#define FAKE_BEST_BLOCK 352

/* How often functions were called, and what the latest launch was. */
struct fake_counts {
    int copy_2d, alloc_async, free_async, get_attribute, set_attribute, best_block, cooperative, launch;
    int alloc, free;                                                     /* cuMemAlloc(), cuMemFree() */
    int host_alloc, host_free;                                           /* cuMemHostAlloc(), cuMemFreeHost() */
    int load, pool_create, host_function, graph_launch, peer_copy, copy; /* copy: of any kind but 2-D */
    int fill;                                                            /* cuMemsetD8Async() */
    size_t fill_bytes;                                                   /* of the latest */
    unsigned int shared;
    size_t alloc_bytes; /* that cuMemAllocAsync() or a pool was asked for last */
    size_t host_bytes;  /* that cuMemHostAlloc() gave, all together */
    size_t bytes_in,
        bytes_out; /* copied from the memory of the CPU to that of a GPU, and back, by calls and in graphs */
    int turns;     /* copies between the two that go the other way than the one before */
    size_t pool_used, pool_kept; /* bytes in allocations of pools, and those that pools keep beside them */
    int priority;                /* of the stream that was created last */
    cf_dim3 grid, block;
};

/* fake_cuda_alive() gives the number of objects that were not given back, and a line of text for each.
 * fake_cuda_add() adds kernels that it runs beside the bundled ones, by their CPU bodies; each has to have an image,
 * with the header of a fatbin. */
typedef int fake_cuda_alive_function(char *text, size_t size);
typedef const struct fake_counts *fake_cuda_counts_function(void);
typedef void fake_cuda_add_function(const cf_module *module);

#endif
