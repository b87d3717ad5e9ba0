/* host.cuh - what a kernel file sees when the C++ compiler builds it for the CPU.
 *
 * One thread of the CPU runs the CUDA threads of a block one after the other; blocks run in parallel. Kernels that
 * synchronise their threads, and shared memory, are not supported yet. */
#ifndef CUFERRY_HOST_CUH
#define CUFERRY_HOST_CUH

#if !defined CF__SCAN /* the generator reads the words below as they are */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* What the generator saw when it scanned the file. */
#ifndef __CUDACC__
#define __CUDACC__
#endif

#define CF__INLINE __attribute__((always_inline))
#define __global__ inline CF__INLINE
#define __device__
#define __host__
#define __forceinline__ inline CF__INLINE
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __restrict__ __restrict

struct uint3 {
    unsigned int x, y, z;
};

struct dim3 {
    unsigned int x, y, z;
    dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

/* One small block per thread of the CPU. */
static __thread struct {
    uint3 thread, block, block_size, grid_size;
} cf__index;

#define threadIdx cf__index.thread
#define blockIdx cf__index.block
#define blockDim cf__index.block_size
#define gridDim cf__index.grid_size

/* Runs every thread of blocks `begin` to `end` - 1. */
template <typename Thread>
static inline CF__INLINE void cf__run(const cf_host_launch *launch, uint64_t begin, uint64_t end, Thread thread)
{
    const cf_dim3 grid = launch->grid, block = launch->block;
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

/* ---- Functions of device code ---- */

template <typename T> static inline CF__INLINE T min(T a, T b)
{
    return b < a ? b : a;
}

template <typename T> static inline CF__INLINE T max(T a, T b)
{
    return a < b ? b : a;
}

template <typename T> static inline CF__INLINE T __ldg(const T *address)
{
    return *address;
}

/* Atomics return the old value, as on the device. */
template <typename T, typename Change> static inline CF__INLINE T cf__atomic(T *address, Change change)
{
    T old, changed;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    do
        changed = change(old);
    while (!__atomic_compare_exchange(address, &old, &changed, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

#define CF__ATOMICS(T)                                                      \
    static inline T atomicMin(T *address, T value)                          \
    {                                                                       \
        return cf__atomic(address, [=](T old) { return min(old, value); }); \
    }                                                                       \
    static inline T atomicMax(T *address, T value)                          \
    {                                                                       \
        return cf__atomic(address, [=](T old) { return max(old, value); }); \
    }
CF__ATOMICS(int)
CF__ATOMICS(unsigned int)
CF__ATOMICS(long long)
CF__ATOMICS(unsigned long long)
#undef CF__ATOMICS

#define CF__ATOMIC_ADD(T)                                               \
    static inline T atomicAdd(T *address, T value)                      \
    {                                                                   \
        return cf__atomic(address, [=](T old) { return old + value; }); \
    }
CF__ATOMIC_ADD(int)
CF__ATOMIC_ADD(unsigned int)
CF__ATOMIC_ADD(unsigned long long)
CF__ATOMIC_ADD(float)
CF__ATOMIC_ADD(double)
#undef CF__ATOMIC_ADD

#endif
#endif
