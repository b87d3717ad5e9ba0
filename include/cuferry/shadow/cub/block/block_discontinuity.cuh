/* block_discontinuity.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_DISCONTINUITY_CUH
#define CUFERRY_CUB_BLOCK_DISCONTINUITY_CUH

#include "../config.cuh"

#if !defined CF__SCAN
#include <type_traits>

#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
template <typename T, int BLOCK_DIM_X, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1> class BlockDiscontinuity
{
    enum { threads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z };
    struct Memory {
        T first[threads], last[threads]; /* first and last one of each thread's items */
    };
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    /* Calls the operator with two items and, if it takes a third argument, the number of the second. */
    template <typename Operator> static bool differ(Operator &op, const T &a, const T &b, int number)
    {
        if constexpr (::std::is_invocable<Operator &, const T &, const T &, int>::value)
            return op(a, b, number);
        else
            return op(a, b);
    }

    template <int items> void share(T (&input)[items])
    {
        block.memory.first[block.rank] = input[0];
        block.memory.last[block.rank] = input[items - 1];
        block.sync();
    }

    /* `before` is the item before the block; if there is none, the first item has a flag. */
    template <int items, typename Flag, typename Operator>
    void flag_heads(Flag (&flags)[items], T (&input)[items], T (&preds)[items], Operator &op, const T *before)
    {
        if (block.rank > 0)
            before = &block.memory.last[block.rank - 1];
        for (int i = items - 1; i > 0; i--)
            preds[i] = input[i - 1];
        if (before)
            preds[0] = *before;
        for (int i = 0; i < items; i++)
            flags[i] = i == 0 && !before ? true : differ(op, preds[i], input[i], block.rank * items + i);
    }

    template <int items, typename Flag, typename Operator>
    void flag_heads(Flag (&flags)[items], T (&input)[items], Operator &op, const T *before)
    {
        T preds[items];
        flag_heads(flags, input, preds, op, before);
    }

    /* `after` is the item after the block; if there is none, the last item has a flag. */
    template <int items, typename Flag, typename Operator>
    void flag_tails(Flag (&flags)[items], T (&input)[items], Operator &op, const T *after)
    {
        if (block.rank < Block::count - 1)
            after = &block.memory.first[block.rank + 1];
        for (int i = 0; i < items; i++) {
            const T *next = i < items - 1 ? &input[i + 1] : after;
            flags[i] = next ? differ(op, input[i], *next, block.rank * items + i + 1) : true;
        }
    }

    CF__BLOCK_CONSTRUCTORS(BlockDiscontinuity)

    template <int items, typename Flag, typename Operator>
    void FlagHeads(Flag (&head_flags)[items], T (&input)[items], T (&preds)[items], Operator flag_op)
    {
        share(input);
        flag_heads(head_flags, input, preds, flag_op, nullptr);
    }

    template <int items, typename Flag, typename Operator>
    void FlagHeads(Flag (&head_flags)[items], T (&input)[items], T (&preds)[items], Operator flag_op,
                   T tile_predecessor_item)
    {
        share(input);
        flag_heads(head_flags, input, preds, flag_op, &tile_predecessor_item);
    }

    template <int items, typename Flag, typename Operator>
    void FlagHeads(Flag (&head_flags)[items], T (&input)[items], Operator flag_op)
    {
        share(input);
        flag_heads(head_flags, input, flag_op, nullptr);
    }

    template <int items, typename Flag, typename Operator>
    void FlagHeads(Flag (&head_flags)[items], T (&input)[items], Operator flag_op, T tile_predecessor_item)
    {
        share(input);
        flag_heads(head_flags, input, flag_op, &tile_predecessor_item);
    }

    template <int items, typename Flag, typename Operator>
    void FlagTails(Flag (&tail_flags)[items], T (&input)[items], Operator flag_op)
    {
        share(input);
        flag_tails(tail_flags, input, flag_op, nullptr);
    }

    template <int items, typename Flag, typename Operator>
    void FlagTails(Flag (&tail_flags)[items], T (&input)[items], Operator flag_op, T tile_successor_item)
    {
        share(input);
        flag_tails(tail_flags, input, flag_op, &tile_successor_item);
    }

    template <int items, typename Flag, typename Operator>
    void FlagHeadsAndTails(Flag (&head_flags)[items], Flag (&tail_flags)[items], T (&input)[items], Operator flag_op)
    {
        share(input);
        flag_heads(head_flags, input, flag_op, nullptr);
        flag_tails(tail_flags, input, flag_op, nullptr);
    }

    template <int items, typename Flag, typename Operator>
    void FlagHeadsAndTails(Flag (&head_flags)[items], Flag (&tail_flags)[items], T tile_successor_item,
                           T (&input)[items], Operator flag_op)
    {
        share(input);
        flag_heads(head_flags, input, flag_op, nullptr);
        flag_tails(tail_flags, input, flag_op, &tile_successor_item);
    }

    template <int items, typename Flag, typename Operator>
    void FlagHeadsAndTails(Flag (&head_flags)[items], T tile_predecessor_item, Flag (&tail_flags)[items],
                           T (&input)[items], Operator flag_op)
    {
        share(input);
        flag_heads(head_flags, input, flag_op, &tile_predecessor_item);
        flag_tails(tail_flags, input, flag_op, nullptr);
    }

    template <int items, typename Flag, typename Operator>
    void FlagHeadsAndTails(Flag (&head_flags)[items], T tile_predecessor_item, Flag (&tail_flags)[items],
                           T tile_successor_item, T (&input)[items], Operator flag_op)
    {
        share(input);
        flag_heads(head_flags, input, flag_op, &tile_predecessor_item);
        flag_tails(tail_flags, input, flag_op, &tile_successor_item);
    }
};
} /* namespace cub */
#endif

#endif
