/* fake_ask.h - functions that the played GPU has in addition to the driver API; tests find them with dlsym(). */
#ifndef FAKE_ASK_H
#define FAKE_ASK_H

#include <cuferry/registry.h>

/* The block size that the played GPU recommends for block(auto); no other code would choose it. */
#define FAKE_BEST_BLOCK 352

/* The number of calls of each function, and the sizes of the last launch. */
struct fake_counts {
    int copy_2d, alloc_async, free_async, get_attribute, set_attribute, best_block, cooperative, launch;
    int alloc, free;                                                     /* cuMemAlloc(), cuMemFree() */
    int host_alloc, host_free;                                           /* cuMemHostAlloc(), cuMemFreeHost() */
    int load, pool_create, host_function, graph_launch, peer_copy, copy; /* copy: every kind except 2-D */
    int fill;                                                            /* cuMemsetD8Async() */
    size_t fill_bytes;                                                   /* in the last fill */
    unsigned int shared;
    size_t alloc_bytes;          /* in the last cuMemAllocAsync() or pool allocation */
    size_t host_bytes;           /* total of cuMemHostAlloc() */
    size_t bytes_in, bytes_out;  /* copied from CPU to GPU memory, and back, by calls and by graphs */
    int turns;                   /* copies that go in the other direction than the copy before */
    size_t pool_used, pool_kept; /* bytes in pool allocations; free bytes that pools keep */
    int priority;                /* of the stream created last */
    cf_dim3 grid, block;
    unsigned int event_flags; /* of the event created last */
    int dependent;            /* launches that may begin before the previous kernel ends */
    cf_dim3 cluster;          /* of the last launch that passed a cluster size */
};

/* Comments in PTX that make the played compiler refuse it, or accept it with a warning. */
#define FAKE_WRONG_PTX "// wrong"
#define FAKE_WARNING_PTX "// odd"

/* fake_cuda_alive() returns the number of objects that were not destroyed, and writes one line about each.
 * fake_cuda_add() adds kernels to the bundled ones; the played GPU runs their CPU bodies. Each kernel's image must be a
 * fatbin, a cubin or PTX. */
typedef int fake_cuda_alive_function(char *text, size_t size);
typedef const struct fake_counts *fake_cuda_counts_function(void);
typedef void fake_cuda_add_function(const cf_module *module);

#endif
