/* block_adjacent_difference.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_ADJACENT_DIFFERENCE_CUH
#define CUFERRY_CUB_BLOCK_ADJACENT_DIFFERENCE_CUH

#include "../config.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
template <typename T, int BLOCK_DIM_X, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1> class BlockAdjacentDifference
{
    struct Memory {
        T items[BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z]; /* the last item of each thread */
    };
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    void put(const T &value)
    {
        block.memory.items[block.rank] = value;
        block.sync();
    }

    /* `before` is the item before the block. Items without a left neighbour, and items from `valid` on, are not
     * changed. */
    template <int items, typename Output, typename Operator>
    void subtract_left(T (&input)[items], Output (&output)[items], Operator &op, int valid, const T *before)
    {
        put(input[items - 1]);
        if (block.rank > 0)
            before = &block.memory.items[block.rank - 1];
        for (int i = items - 1; i >= 0; i--) {
            const T *left = i > 0 ? &input[i - 1] : before;
            output[i] = left && block.rank * items + i < valid ? (Output)op(input[i], *left) : (Output)input[i];
        }
    }

    template <int items, typename Output, typename Operator>
    void subtract_right(T (&input)[items], Output (&output)[items], Operator &op, int valid, const T *after)
    {
        put(input[0]);
        if (block.rank < Block::count - 1)
            after = &block.memory.items[block.rank + 1];
        for (int i = 0; i < items; i++) {
            const T *right = i < items - 1 ? &input[i + 1] : after;
            output[i] = right && block.rank * items + i < valid ? (Output)op(input[i], *right) : (Output)input[i];
        }
    }

    CF__BLOCK_CONSTRUCTORS(BlockAdjacentDifference)

    template <int items, typename Output, typename Operator>
    void SubtractLeft(T (&input)[items], Output (&output)[items], Operator difference_op)
    {
        subtract_left(input, output, difference_op, INT_MAX, nullptr);
    }

    template <int items, typename Output, typename Operator>
    void SubtractLeft(T (&input)[items], Output (&output)[items], Operator difference_op, T tile_predecessor_item)
    {
        subtract_left(input, output, difference_op, INT_MAX, &tile_predecessor_item);
    }

    template <int items, typename Output, typename Operator>
    void SubtractLeftPartialTile(T (&input)[items], Output (&output)[items], Operator difference_op, int valid_items)
    {
        subtract_left(input, output, difference_op, valid_items, nullptr);
    }

    template <int items, typename Output, typename Operator>
    void SubtractLeftPartialTile(T (&input)[items], Output (&output)[items], Operator difference_op, int valid_items,
                                 T tile_predecessor_item)
    {
        subtract_left(input, output, difference_op, valid_items, &tile_predecessor_item);
    }

    template <int items, typename Output, typename Operator>
    void SubtractRight(T (&input)[items], Output (&output)[items], Operator difference_op)
    {
        subtract_right(input, output, difference_op, INT_MAX, nullptr);
    }

    template <int items, typename Output, typename Operator>
    void SubtractRight(T (&input)[items], Output (&output)[items], Operator difference_op, T tile_successor_item)
    {
        subtract_right(input, output, difference_op, INT_MAX, &tile_successor_item);
    }

    /* The last valid item is not changed. */
    template <int items, typename Output, typename Operator>
    void SubtractRightPartialTile(T (&input)[items], Output (&output)[items], Operator difference_op, int valid_items)
    {
        subtract_right(input, output, difference_op, valid_items - 1, nullptr);
    }
};
} /* namespace cub */
#endif

#endif
