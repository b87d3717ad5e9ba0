/* groups.cuh - cooperative_groups: members of all groups, the block, the grid. */
#ifndef CUFERRY_CPU_GROUPS_CUH
#define CUFERRY_CPU_GROUPS_CUH

#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/sync/warp.cuh>
#include <cuferry/cpu/words.cuh>

namespace cooperative_groups
{
/* Returns the rank of an index among the indices of a space with the extents `size`. x varies fastest. */
CF__FN unsigned long long cf__rank(uint3 index, uint3 size)
{
    return ((unsigned long long)index.z * size.y + index.y) * size.x + index.x;
}

CF__FN unsigned long long cf__count(uint3 size)
{
    return (unsigned long long)size.x * size.y * size.z;
}

/* A group whose kind is known only at run time. */
class thread_group
{
  public:
    unsigned long long num_threads() const
    {
        switch (cf__kind) {
        case BLOCK:
            return cf__count(blockDim);
        case GRID:
            return cf__count(gridDim) * cf__count(blockDim);
        default:
            return (unsigned int)__builtin_popcount(cf__mask);
        }
    }

    unsigned long long size() const
    {
        return num_threads();
    }

    unsigned long long thread_rank() const
    {
        switch (cf__kind) {
        case BLOCK:
            return cf__rank(threadIdx, blockDim);
        case GRID:
            return cf__rank(blockIdx, gridDim) * cf__count(blockDim) + cf__rank(threadIdx, blockDim);
        default:
            return (unsigned int)__builtin_popcount(cf__mask & ((1u << cf__lane()) - 1));
        }
    }

    void sync(CF__WHERE) const
    {
        switch (cf__kind) {
        case BLOCK:
            cf__barrier(CF_HOST_VOTE_COUNT, 0, "thread_group::sync()", file, line);
            break;
        case GRID:
            cf__sync_grid(file, line);
            break;
        default:
            cf__exchange(CF_HOST_WARP_SYNC, cf__mask, 0, 0, warpSize, "thread_group::sync()", file, line);
        }
    }

    unsigned int get_type() const
    {
        return cf__kind;
    }

    enum cf__kind_of_group : unsigned int { BLOCK = 1, GRID, LANES };

    explicit thread_group(cf__kind_of_group kind, unsigned int mask = 0, unsigned int meta_rank = 0,
                          unsigned int meta_size = 1)
        : cf__kind(kind), cf__mask(mask), cf__meta_rank(meta_rank), cf__meta_size(meta_size)
    {
    }

    /* Private to these headers. */
    cf__kind_of_group cf__kind;
    unsigned int cf__mask;                     /* mask of the group's lanes */
    unsigned int cf__meta_rank, cf__meta_size; /* rank of this group, and number of groups, among the groups of its
                                                * parent */
};

/* ---- The block ---- */

/* Memory that groups of several warps need on old GPUs. The CPU does not use it. */
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
};

class thread_block : public thread_group
{
  public:
    struct arrival_token {
    };

    thread_block() : thread_group(BLOCK)
    {
    }

    static void sync(CF__WHERE)
    {
        cf__barrier(CF_HOST_VOTE_COUNT, 0, "thread_block::sync()", file, line);
    }

    /* The CPU would gain no time by a separate arrival, so that barrier_wait() both arrives and waits. */
    static arrival_token barrier_arrive()
    {
        return {};
    }

    static void barrier_wait(arrival_token &&, CF__WHERE)
    {
        cf__barrier(CF_HOST_VOTE_COUNT, 0, "thread_block::barrier_wait()", file, line);
    }

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

CF__FN thread_block this_thread_block()
{
    return {};
}

template <unsigned int MaxBlockSize> CF__FN thread_block this_thread_block(block_tile_memory<MaxBlockSize> &)
{
    return {};
}

/* ---- The grid ---- */

class grid_group : public thread_group
{
  public:
    typedef unsigned int arrival_token;

    grid_group() : thread_group(GRID)
    {
    }

    /* True if all blocks are resident and may wait for one another. */
    static bool is_valid()
    {
        return cf__index.state && cf__index.state->launch->is_cooperative;
    }

    static void sync(CF__WHERE)
    {
        cf__sync_grid(file, line);
    }

    static arrival_token barrier_arrive()
    {
        return 0;
    }

    static void barrier_wait(arrival_token &&, CF__WHERE)
    {
        cf__sync_grid(file, line);
    }

    static dim3 group_dim()
    {
        return gridDim;
    }

    static dim3 dim_blocks()
    {
        return gridDim;
    }

    static dim3 dim_threads()
    {
        return {gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z};
    }

    static dim3 block_index()
    {
        return blockIdx;
    }

    static dim3 thread_index()
    {
        return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z};
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

CF__FN grid_group this_grid()
{
    return {};
}

/* ---- Of any group ---- */

template <typename Group> CF__FN void sync(const Group &group, CF__WHERE)
{
    group.sync(file, line);
}

template <typename Group> CF__FN auto thread_rank(const Group &group) -> decltype(group.thread_rank())
{
    return group.thread_rank();
}

template <typename Group> CF__FN auto group_size(const Group &group) -> decltype(group.num_threads())
{
    return group.num_threads();
}

} /* namespace cooperative_groups */

#endif
