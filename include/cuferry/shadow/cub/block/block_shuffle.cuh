/* block_shuffle.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_SHUFFLE_CUH
#define CUFERRY_CUB_BLOCK_SHUFFLE_CUH

#include "../config.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
template <typename T, int BLOCK_DIM_X, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1> class BlockShuffle
{
    struct Memory {
        T items[BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z];
    };
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    void put(const T &value)
    {
        block.memory.items[block.rank] = value;
        block.sync();
    }

    CF__BLOCK_CONSTRUCTORS(BlockShuffle)

    /* If there is no such thread, the output is not changed. */
    void Offset(T input, T &output, int distance = 1)
    {
        put(input);
        const int from = block.rank + distance;
        if (from >= 0 && from < Block::count)
            output = block.memory.items[from];
    }

    void Rotate(T input, T &output, unsigned int distance = 1)
    {
        put(input);
        output = block.memory.items[((unsigned int)block.rank + distance) % Block::count];
    }

    template <int items> void Up(T (&input)[items], T (&prev)[items])
    {
        put(input[items - 1]);
        for (int i = items - 1; i > 0; i--)
            prev[i] = input[i - 1];
        if (block.rank > 0)
            prev[0] = block.memory.items[block.rank - 1];
    }

    template <int items> void Up(T (&input)[items], T (&prev)[items], T &block_suffix)
    {
        Up(input, prev);
        block_suffix = block.memory.items[Block::count - 1];
    }

    template <int items> void Down(T (&input)[items], T (&next)[items])
    {
        put(input[0]);
        for (int i = 0; i < items - 1; i++)
            next[i] = input[i + 1];
        if (block.rank < Block::count - 1)
            next[items - 1] = block.memory.items[block.rank + 1];
    }

    template <int items> void Down(T (&input)[items], T (&next)[items], T &block_prefix)
    {
        Down(input, next);
        block_prefix = block.memory.items[0];
    }
};
} /* namespace cub */
#endif

#endif
