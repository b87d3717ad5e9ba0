/* block_exchange.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_EXCHANGE_CUH
#define CUFERRY_CUB_BLOCK_EXCHANGE_CUH

#include "../config.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
template <typename T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, bool WARP_TIME_SLICING = false, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1>
class BlockExchange
{
    struct Memory {
        T items[BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z * ITEMS_PER_THREAD];
    };
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    /* Return the position of item `i` of this thread in the block. */
    int blocked(int i) const
    {
        return block.rank * ITEMS_PER_THREAD + i;
    }

    int striped(int i) const
    {
        return block.rank + i * Block::count;
    }

    int warp_striped(int i) const
    {
        const cf__lanes lanes = block.lanes();
        return (block.rank - lanes.rank) * ITEMS_PER_THREAD + lanes.rank + i * lanes.size;
    }

    template <typename From, typename To, typename Output>
    void exchange(const T (&input)[ITEMS_PER_THREAD], Output (&output)[ITEMS_PER_THREAD], From from, To to)
    {
        for (int i = 0; i < ITEMS_PER_THREAD; i++)
            if (from(i) >= 0)
                block.memory.items[from(i)] = input[i];
        block.sync();
        for (int i = 0; i < ITEMS_PER_THREAD; i++)
            output[i] = block.memory.items[to(i)];
    }

    CF__BLOCK_CONSTRUCTORS(BlockExchange)

/* Input and output may be the same array. */
#define CF__EXCHANGE(name, from, to)                                                                        \
    template <typename Output>                                                                              \
    void name(const T(&input_items)[ITEMS_PER_THREAD], Output(&output_items)[ITEMS_PER_THREAD])             \
    {                                                                                                       \
        exchange(                                                                                           \
            input_items, output_items, [this](int i) { return from(i); }, [this](int i) { return to(i); }); \
    }                                                                                                       \
    void name(T(&items)[ITEMS_PER_THREAD])                                                                  \
    {                                                                                                       \
        name(items, items);                                                                                 \
    }
    CF__EXCHANGE(StripedToBlocked, striped, blocked)
    CF__EXCHANGE(BlockedToStriped, blocked, striped)
    CF__EXCHANGE(WarpStripedToBlocked, warp_striped, blocked)
    CF__EXCHANGE(BlockedToWarpStriped, blocked, warp_striped)
#undef CF__EXCHANGE

#define CF__SCATTER(name, to)                                                                                  \
    template <typename Output, typename Offset>                                                                \
    void name(const T(&input_items)[ITEMS_PER_THREAD], Output(&output_items)[ITEMS_PER_THREAD],                \
              Offset(&ranks)[ITEMS_PER_THREAD])                                                                \
    {                                                                                                          \
        exchange(                                                                                              \
            input_items, output_items, [&](int i) { return (int)ranks[i]; }, [this](int i) { return to(i); }); \
    }                                                                                                          \
    template <typename Offset> void name(T(&items)[ITEMS_PER_THREAD], Offset(&ranks)[ITEMS_PER_THREAD])        \
    {                                                                                                          \
        name(items, items, ranks);                                                                             \
    }
    CF__SCATTER(ScatterToBlocked, blocked)
    CF__SCATTER(ScatterToStriped, striped)
    CF__SCATTER(ScatterToStripedGuarded, striped)
#undef CF__SCATTER

    template <typename Output, typename Offset, typename Flag>
    void ScatterToStripedFlagged(const T (&input_items)[ITEMS_PER_THREAD], Output (&output_items)[ITEMS_PER_THREAD],
                                 Offset (&ranks)[ITEMS_PER_THREAD], Flag (&is_valid)[ITEMS_PER_THREAD])
    {
        exchange(
            input_items, output_items, [&](int i) { return is_valid[i] ? (int)ranks[i] : -1; },
            [this](int i) { return striped(i); });
    }
};
} /* namespace cub */
#endif

#endif
