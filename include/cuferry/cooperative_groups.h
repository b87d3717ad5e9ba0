/* cooperative_groups.h - stands in for the toolkit's when the C++ compiler reads a kernel file: the groups that tell
 * threads their indices. What synchronises threads is not supported yet, and not declared. */
#ifndef CUFERRY_COOPERATIVE_GROUPS_H
#define CUFERRY_COOPERATIVE_GROUPS_H

#include "host.cuh"

#if !defined CF__SCAN

namespace cooperative_groups
{
/* The number of an index in a space of that size. */
CF__FN unsigned long long cf__rank(uint3 index, uint3 size)
{
    return ((unsigned long long)index.z * size.y + index.y) * size.x + index.x;
}

CF__FN unsigned long long cf__count(uint3 size)
{
    return (unsigned long long)size.x * size.y * size.z;
}

struct thread_block {
    static dim3 group_index()
    {
        return blockIdx;
    }

    static dim3 thread_index()
    {
        return threadIdx;
    }

    static dim3 group_dim()
    {
        return blockDim;
    }

    static dim3 dim_threads()
    {
        return blockDim;
    }

    static unsigned int thread_rank()
    {
        return (unsigned int)cf__rank(threadIdx, blockDim);
    }

    static unsigned int num_threads()
    {
        return (unsigned int)cf__count(blockDim);
    }

    static unsigned int size()
    {
        return num_threads();
    }
};

struct grid_group {
    static dim3 group_dim()
    {
        return gridDim;
    }

    static dim3 dim_blocks()
    {
        return gridDim;
    }

    static dim3 block_index()
    {
        return blockIdx;
    }

    static unsigned long long block_rank()
    {
        return cf__rank(blockIdx, gridDim);
    }

    static unsigned long long num_blocks()
    {
        return cf__count(gridDim);
    }

    static unsigned long long thread_rank()
    {
        return block_rank() * cf__count(blockDim) + cf__rank(threadIdx, blockDim);
    }

    static unsigned long long num_threads()
    {
        return num_blocks() * cf__count(blockDim);
    }

    static unsigned long long size()
    {
        return num_threads();
    }
};

CF__FN thread_block this_thread_block()
{
    return {};
}

CF__FN grid_group this_grid()
{
    return {};
}
} /* namespace cooperative_groups */

#endif
#endif
