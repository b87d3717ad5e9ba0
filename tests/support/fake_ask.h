/* fake_ask.h - functions of the played GPU beside the driver API; tests find them with dlsym(). */
#ifndef FAKE_ASK_H
#define FAKE_ASK_H

#include <cuferry/registry.h>

/* The played GPU's answer to block(auto): a block size that nobody would choose. */
#define FAKE_BEST_BLOCK 352

/* The number of calls of each function, and the sizes of the latest launch. */
struct fake_counts {
    int copy_2d, alloc_async, free_async, get_attribute, set_attribute, best_block, cooperative, launch;
    int alloc, free;                                                     /* cuMemAlloc(), cuMemFree() */
    int host_alloc, host_free;                                           /* cuMemHostAlloc(), cuMemFreeHost() */
    int load, pool_create, host_function, graph_launch, peer_copy, copy; /* copy: every kind except 2-D */
    int fill;                                                            /* cuMemsetD8Async() */
    size_t fill_bytes;                                                   /* of the latest fill */
    unsigned int shared;
    size_t alloc_bytes;          /* of the latest cuMemAllocAsync() or pool allocation */
    size_t host_bytes;           /* total of cuMemHostAlloc() */
    size_t bytes_in, bytes_out;  /* copied from CPU to GPU memory, and back, by calls and in graphs */
    int turns;                   /* copies whose direction differs from the one before */
    size_t pool_used, pool_kept; /* bytes in pool allocations; free bytes that pools keep */
    int priority;                /* of the latest stream created */
    cf_dim3 grid, block;
    unsigned int event_flags; /* of the latest event */
    int dependent;            /* launches that may begin early */
    cf_dim3 cluster;          /* of the latest launch that passed one */
};

/* PTX with such a comment does not compile, or compiles with a warning. */
#define FAKE_WRONG_PTX "// wrong"
#define FAKE_WARNING_PTX "// odd"

/* fake_cuda_alive() returns the number of objects that were not given back, with a line of text for each.
 * fake_cuda_add() adds kernels to the bundled ones; the played GPU runs their CPU bodies. Each needs an image
 * that is a fatbin, a cubin or PTX. */
typedef int fake_cuda_alive_function(char *text, size_t size);
typedef const struct fake_counts *fake_cuda_counts_function(void);
typedef void fake_cuda_add_function(const cf_module *module);

#endif
