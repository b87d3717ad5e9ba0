/* threads.cuh - the indices of CUDA threads, and the loop that runs them. */
#ifndef CUFERRY_HOST_THREADS_CUH
#define CUFERRY_HOST_THREADS_CUH

#include <stdint.h>

#include "vector.cuh"
#include "words.cuh"

/* One small block per thread of the CPU. */
static __thread struct {
    uint3 thread, block, block_size, grid_size;
} cf__index;

#define threadIdx cf__index.thread
#define blockIdx cf__index.block
#define blockDim cf__index.block_size
#define gridDim cf__index.grid_size

constexpr int warpSize = 32;

/* An argument of a class type, which C may align less than C++ does. */
template <typename T> static inline CF__INLINE T cf__read(const void *argument)
{
    alignas(T) unsigned char bytes[sizeof(T)];
    __builtin_memcpy(bytes, argument, sizeof bytes);
    return *reinterpret_cast<T *>(bytes);
}

/* The cf_host_launch of registry.h, which is not included here: the kernel file's own includes decide what cf_half is
 * (types.h), and its macros what is left of a header behind it. A test compares the two. */
struct cf__host_launch {
    struct {
        uint32_t x, y, z;
    } grid, block;
    void *const *args;
};

/* Runs every thread of blocks `begin` to `end` - 1. */
template <typename Thread>
static inline CF__INLINE void cf__run(const cf__host_launch *launch, uint64_t begin, uint64_t end, Thread thread)
{
    const auto grid = launch->grid, block = launch->block;
    gridDim = {grid.x, grid.y, grid.z};
    blockDim = {block.x, block.y, block.z};
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
