/* cluster.cuh - cooperative_groups: the blocks of a cluster, which are resident at once. */
#ifndef CUFERRY_CPU_CLUSTER_CUH
#define CUFERRY_CPU_CLUSTER_CUH

#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/sync/space.cuh>
#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/words.cuh>

#include "groups.cuh"

namespace cooperative_groups
{
/* A kernel without __cluster_dims__ has clusters of one block. */
class cluster_group
{
    static void pass(int steps, const char *what, const char *file, int line)
    {
        const cf_host_where where = {what, file, line};
        CF__TOGETHER(, cluster(block, steps, &where))
    }

    /* Returns the address in `to` that corresponds to `address` in `from`. Both are memory of the same size. */
    static void *move(const void *address, const void *from, void *to)
    {
        return static_cast<char *>(to) + (static_cast<const char *>(address) - static_cast<const char *>(from));
    }

    /* Returns the address that corresponds to `address` in another block; NULL if `address` is in no __shared__
     * variable of this block. */
    static void *find(cf_host_block *own, const void *address, cf_host_block *other)
    {
        if (cf__is_within(address, own->dynamic, own->launch->shared))
            return move(address, own->dynamic, other->dynamic);
        for (uint32_t i = 0; i < own->shared_count; i++) {
            const cf_host_shared &variable = own->shared[i];
            /* If the other block has not reached the variable yet, its memory is allocated here, with the alignment of
             * this block's variable. */
            if (cf__is_within(address, variable.memory, variable.bytes)) {
                const size_t align = (uintptr_t)variable.memory & -(uintptr_t)variable.memory & 4095;
                return move(address, variable.memory,
                            own->ops->shared(other, variable.key, variable.bytes, align ? align : 4096));
            }
        }
        return nullptr;
    }

  public:
    struct arrival_token {
    };

    static void sync(CF__WHERE)
    {
        pass(CF_HOST_ARRIVE | CF_HOST_WAIT, "cluster_group::sync()", file, line);
    }

    static arrival_token barrier_arrive(CF__WHERE)
    {
        pass(CF_HOST_ARRIVE, "cluster_group::barrier_arrive()", file, line);
        return {};
    }

    static void barrier_wait(CF__WHERE)
    {
        pass(CF_HOST_WAIT, "cluster_group::barrier_wait()", file, line);
    }

    static void barrier_wait(arrival_token &&, CF__WHERE)
    {
        barrier_wait(file, line);
    }

    template <typename T> static T *map_shared_rank(T *address, int rank, CF__WHERE)
    {
        cf_host_block *own = cf__index.state;
        if (rank < 0 || (unsigned int)rank >= num_blocks())
            cf__fail(0, "map_shared_rank() of a block that the cluster does not have", file, line);
        void *there = find(own, (const void *)address, own->ops->peer(own, (uint32_t)rank));
        if (!there)
            cf__fail(0, "map_shared_rank() of an address outside of the block's __shared__ variables", file, line);
        return (T *)there;
    }

    static unsigned int query_shared_rank(const void *address, CF__WHERE)
    {
        cf_host_block *own = cf__index.state;
        for (unsigned int rank = 0; rank < num_blocks(); rank++) {
            cf_host_block *other = own->ops->peer(own, rank);
            if (find(other, address, other))
                return rank;
        }
        cf__fail(0, "query_shared_rank() of an address outside of the cluster's __shared__ variables", file, line);
        return 0;
    }

    static dim3 dim_blocks()
    {
        const cf_dim3 size = cf__index.state->launch->cluster;
        return {size.x, size.y, size.z};
    }

    static unsigned int num_blocks()
    {
        return (unsigned int)cf__count(dim_blocks());
    }

    static dim3 dim_threads()
    {
        const dim3 size = dim_blocks();
        return {size.x * blockDim.x, size.y * blockDim.y, size.z * blockDim.z};
    }

    static unsigned int num_threads()
    {
        return num_blocks() * (unsigned int)cf__count(blockDim);
    }

    static unsigned int size()
    {
        return num_threads();
    }

    static dim3 block_index()
    {
        const dim3 size = dim_blocks();
        return {blockIdx.x % size.x, blockIdx.y % size.y, blockIdx.z % size.z};
    }

    static unsigned int block_rank()
    {
        return (unsigned int)cf__rank(block_index(), dim_blocks());
    }

    static dim3 thread_index()
    {
        const dim3 own = block_index();
        return {own.x * blockDim.x + threadIdx.x, own.y * blockDim.y + threadIdx.y, own.z * blockDim.z + threadIdx.z};
    }

    static unsigned int thread_rank()
    {
        return block_rank() * (unsigned int)cf__count(blockDim) + (unsigned int)cf__rank(threadIdx, blockDim);
    }
};

CF__FN cluster_group this_cluster()
{
    return {};
}

} /* namespace cooperative_groups */

#endif
