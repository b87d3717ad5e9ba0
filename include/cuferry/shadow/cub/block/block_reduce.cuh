/* block_reduce.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_REDUCE_CUH
#define CUFERRY_CUB_BLOCK_REDUCE_CUH

#include "../thread/thread_reduce.cuh"
#include "../warp/warp_reduce.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
/* All algorithms combine values in the order of BLOCK_REDUCE_WARP_REDUCTIONS on a GPU. */
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
    BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};

template <typename T, int BLOCK_DIM_X, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1>
class BlockReduce
{
    struct Memory {
        T sums[(BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z + 31) / 32]; /* sums of the warps */
    };
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    CF__BLOCK_CONSTRUCTORS(BlockReduce)

    /* Combines the values of the first `num_valid` threads. Thread 0 gets the result. */
    template <typename Operator> T Reduce(T input, Operator op, int num_valid)
    {
        const cf__lanes lanes = block.lanes();
        const int valid = num_valid < Block::count ? num_valid : Block::count;
        T sum = lanes.reduce(input, valid - 1 - block.warp() * 32, op);
        if (lanes.rank == 0)
            block.memory.sums[block.warp()] = sum;
        block.sync();
        if (block.rank == 0)
            for (int warp = 1; warp * 32 < valid; warp++)
                sum = op(sum, block.memory.sums[warp]);
        return sum;
    }

    template <typename Operator> T Reduce(T input, Operator op)
    {
        return Reduce(input, op, Block::count);
    }

    template <int items, typename Operator> T Reduce(T (&inputs)[items], Operator op)
    {
        return Reduce((T)ThreadReduce(inputs, op), op);
    }

    T Sum(T input)
    {
        return Reduce(input, ::cuda::std::plus<>());
    }

    T Sum(T input, int num_valid)
    {
        return Reduce(input, ::cuda::std::plus<>(), num_valid);
    }

    template <int items> T Sum(T (&inputs)[items])
    {
        return Reduce(inputs, ::cuda::std::plus<>());
    }
};
} /* namespace cub */
#endif

#endif
