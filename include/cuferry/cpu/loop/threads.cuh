/* threads.cuh - the indices of CUDA threads, and what runs them: a loop, or the library where threads wait for others. */
#ifndef CUFERRY_CPU_THREADS_CUH
#define CUFERRY_CPU_THREADS_CUH

#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/types/vector.cuh>
#include <cuferry/cpu/words.cuh>

/* What changes between CUDA threads that take turns. */
struct cf__running {
    uint3 cf__thread, cf__block; /* in a kernel's text: names that no macro of its file has */
    cf_host_block *state;        /* null where threads run in a loop */
};

/* Of the CUDA thread that runs; one small object per thread of the CPU. */
static __thread struct : cf__running {
    uint3 cf__block_size, cf__grid_size;
} cf__index;

#define threadIdx cf__index.cf__thread
#define blockIdx cf__index.cf__block
#define blockDim cf__index.cf__block_size
#define gridDim cf__index.cf__grid_size

constexpr int warpSize = 32;

/* An argument, whose name in the launch a macro of the kernel file may have. */
static inline CF__INLINE void *cf__argument(const cf_host_launch *launch, int number)
{
    return launch->args[number];
}

/* An argument of a class type, which C may align less than C++ does. */
template <typename T> static inline CF__INLINE T cf__read(const void *argument)
{
    alignas(T) unsigned char bytes[sizeof(T)];
    __builtin_memcpy(bytes, argument, sizeof bytes);
    return *reinterpret_cast<T *>(bytes);
}

/* For functions that a kernel calls, and for kernels whose text the generator left as it is. */
static inline CF__INLINE void cf__set_sizes(const cf_host_launch *launch)
{
    gridDim = {launch->grid.x, launch->grid.y, launch->grid.z};
    blockDim = {launch->block.x, launch->block.y, launch->block.z};
}

/* blocks * part / of, where `blocks` has 32 bits. */
static inline uint64_t cf__share(uint64_t blocks, uint64_t part, uint64_t of)
{
    return part == 0          ? 0
           : part == of       ? blocks
           : of <= UINT32_MAX ? blocks * part / of
                              : (uint64_t)((unsigned __int128)blocks * part / of);
}

/* A launch of so many threads, in one dimension, in place of those that a GPU runs: the blocks `begin` to `end` - 1
 * become those that stand for the same part of the work. Where threads are few, blocks are smaller, so that they are no
 * fewer: threads of the CPU share them out. */
static inline cf_host_launch cf__spread(const cf_host_launch *launch, uint64_t *begin, uint64_t *end, int64_t threads)
{
    cf_host_launch own = *launch;
    const uint64_t given = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    const uint64_t most = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    const uint64_t count = threads > 0 ? (uint64_t)threads : 0, even = (count + given - 1) / given;
    uint64_t size = even < most ? even : most, blocks = size ? (count + size - 1) / size : 0;
    while (blocks > UINT32_MAX) {
        size *= 2;
        blocks = (count + size - 1) / size;
    }
    own.block = {(uint32_t)size, 1, 1};
    own.grid = {(uint32_t)blocks, 1, 1};
    *begin = cf__share(blocks, *begin, given);
    *end = cf__share(blocks, *end, given);
    return own;
}

/* Runs every thread of blocks `begin` to `end` - 1, which may wait for one another, or fail. */
template <typename Thread>
static inline void cf__run_together(const cf_host_launch *launch, uint64_t begin, uint64_t end, Thread thread)
{
    cf__set_sizes(launch);
    launch->ops->run(
        launch, begin, end,
        [](void *closure, cf_host_block *block, cf_dim3 index) {
            threadIdx = {index.x, index.y, index.z};
            blockIdx = {block->index.x, block->index.y, block->index.z};
            cf__index.state = block;
            (*static_cast<Thread *>(closure))();
        },
        &thread);
    cf__index.state = nullptr;
}

/* The same where they wait for nothing: one after the other. */
template <typename Thread>
static inline CF__INLINE void cf__run(const cf_host_launch *launch, uint64_t begin, uint64_t end, Thread thread)
{
    const cf_dim3 grid = launch->grid, block = launch->block;
    if (launch->is_ordered) {
        cf__run_together(launch, begin, end, thread);
        return;
    }
    cf__set_sizes(launch);
    for (uint64_t b = begin; b < end; b++) {
        blockIdx = {(unsigned int)(b % grid.x), (unsigned int)(b / grid.x % grid.y),
                    (unsigned int)(b / grid.x / grid.y)};
        for (unsigned int z = 0; z < block.z; z++)
            for (unsigned int y = 0; y < block.y; y++)
                for (unsigned int x = 0; x < block.x; x++) {
                    threadIdx = {x, y, z};
                    thread();
                }
    }
}

#endif
