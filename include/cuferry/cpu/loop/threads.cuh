/* threads.cuh - indices of CUDA threads, and the two ways to run threads: as a loop or, if they wait for one another,
 * by the library. */
#ifndef CUFERRY_CPU_THREADS_CUH
#define CUFERRY_CPU_THREADS_CUH

#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/types/vector.cuh>
#include <cuferry/cpu/words.cuh>

/* The state of the running CUDA thread, which changes when CUDA threads take turns. */
struct cf__running {
    uint3 cf__thread, cf__block; /* these names appear in a kernel's text, so no macro may have them */
    cf_host_block *state;        /* NULL if the threads run as a loop */
};

/* The state of the running CUDA thread: one small object per CPU thread. */
static __thread struct : cf__running {
    uint3 cf__block_size, cf__grid_size;
    uint64_t cf__undone; /* number of the turn's blocks that have not run because a block left its regions, or 0 */
} cf__index;

#define threadIdx cf__index.cf__thread
#define blockIdx cf__index.cf__block
#define blockDim cf__index.cf__block_size
#define gridDim cf__index.cf__grid_size

constexpr int warpSize = 32;

/* Returns an argument by its number. The launch's fields are read here, because a macro of the kernel file may have a
 * field's name. */
static inline CF__INLINE void *cf__argument(const cf_host_launch *launch, int number)
{
    return launch->args[number];
}

/* Returns an argument of a class type. C may align the argument less than C++ does. */
template <typename T> static inline CF__INLINE T cf__read(const void *argument)
{
    alignas(T) unsigned char bytes[sizeof(T)];
    __builtin_memcpy(bytes, argument, sizeof bytes);
    return *reinterpret_cast<T *>(bytes);
}

/* Sets the sizes for functions that a kernel calls, and for kernels that the generator did not rewrite. */
static inline CF__INLINE void cf__set_sizes(const cf_host_launch *launch)
{
    gridDim = {launch->grid.x, launch->grid.y, launch->grid.z};
    blockDim = {launch->block.x, launch->block.y, launch->block.z};
}

/* Returns the product of `blocks`, which has at most 32 bits, and the fraction part / of. */
static inline uint64_t cf__share(uint64_t blocks, uint64_t part, uint64_t of)
{
    return part == 0          ? 0
           : part == of       ? blocks
           : of <= UINT32_MAX ? blocks * part / of
                              : (uint64_t)((unsigned __int128)blocks * part / of);
}

/* Returns a one-dimensional launch of `threads` threads that takes the place of a GPU's launch. `begin` and `end`
 * become the blocks of the new launch that do the same part of the work. With few threads, blocks become smaller
 * instead of fewer, so that CPU threads can share them. */
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

/* Returns a launch with x and y exchanged. */
static inline cf_host_launch cf__turn(const cf_host_launch *launch)
{
    cf_host_launch own = *launch;
    own.grid = {launch->grid.y, launch->grid.x, launch->grid.z};
    own.block = {launch->block.y, launch->block.x, launch->block.z};
    own.is_turned = 1;
    return own;
}

/* The part of cf__run_together() that does not depend on the kernel. */
[[maybe_unused]] static __attribute__((noinline)) void
cf__run_turns(const cf_host_launch *launch, uint64_t begin, uint64_t end, cf_host_thread *thread, void *closure)
{
    cf__set_sizes(launch);
    launch->ops->run(launch, begin, end, thread, closure);
    cf__index.state = nullptr;
}

template <typename Thread> static void cf__run_thread(void *closure, cf_host_block *block, cf_dim3 index)
{
    threadIdx = {index.x, index.y, index.z};
    blockIdx = {block->index.x, block->index.y, block->index.z};
    cf__index.state = block;
    (*static_cast<Thread *>(closure))();
}

/* Runs every thread of blocks `begin` to `end` - 1; threads may wait for one another, or fail. */
template <typename Thread>
static inline CF__INLINE void cf__run_together(const cf_host_launch *launch, uint64_t begin, uint64_t end,
                                               Thread thread)
{
    cf__run_turns(launch, begin, end, cf__run_thread<Thread>, &thread);
}

/* Runs threads that never wait, one after the other. */
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
