/* block_load.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_LOAD_CUH
#define CUFERRY_CUB_BLOCK_LOAD_CUH

#include "../thread/thread_load.cuh"
#include "block_exchange.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
/* Loads of items. `place` is the position of a thread's item `i`. Guarded loads do not change items past the end, or
 * set them to a default. */
#define CF__LOADS(name, parameters, place)                                                \
    template <parameters typename T, int items, typename Iterator>                        \
    CF__FN void name(int thread, Iterator from, T(&values)[items], int end)               \
    {                                                                                     \
        for (int i = 0; i < items; i++)                                                   \
            if ((place) < end)                                                            \
                values[i] = from[place];                                                  \
    }                                                                                     \
    template <parameters typename T, int items, typename Iterator>                        \
    CF__FN void name(int thread, Iterator from, T(&values)[items])                        \
    {                                                                                     \
        for (int i = 0; i < items; i++)                                                   \
            values[i] = from[place];                                                      \
    }                                                                                     \
    template <parameters typename T, typename Default, int items, typename Iterator>      \
    CF__FN void name(int thread, Iterator from, T(&values)[items], int end, Default rest) \
    {                                                                                     \
        for (int i = 0; i < items; i++)                                                   \
            if ((place) < end)                                                            \
                values[i] = from[place];                                                  \
            else                                                                          \
                values[i] = rest;                                                         \
    }
#define CF__COMMA ,
CF__LOADS(LoadDirectBlocked, , thread *items + i)
CF__LOADS(LoadDirectStriped, int BLOCK_THREADS CF__COMMA, thread + i * BLOCK_THREADS)
CF__LOADS(LoadDirectWarpStriped, , thread / 32 * 32 * items + thread % 32 + i * 32)
#undef CF__LOADS

template <typename T, int items> CF__FN void LoadDirectBlockedVectorized(int thread, T *from, T (&values)[items])
{
    LoadDirectBlocked(thread, from, values);
}

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1>
class BlockLoad
{
    typedef cf__nothing Memory;
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    CF__BLOCK_CONSTRUCTORS(BlockLoad)

    /* Each thread reads its own items. If threads exchange items on a GPU, they also wait for one another here: all
     * have read before any of them writes. */
    template <typename Iterator, typename... Guard>
    void Load(Iterator block_src_it, T (&dst_items)[ITEMS_PER_THREAD], Guard... guard)
    {
        if constexpr (ALGORITHM == BLOCK_LOAD_STRIPED)
            LoadDirectStriped<Block::count>(block.rank, block_src_it, dst_items, guard...);
        else
            LoadDirectBlocked(block.rank, block_src_it, dst_items, guard...);
        if constexpr (ALGORITHM == BLOCK_LOAD_TRANSPOSE || ALGORITHM == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED)
            block.sync();
        if constexpr (ALGORITHM == BLOCK_LOAD_WARP_TRANSPOSE)
            block.lanes().sync();
    }
};
} /* namespace cub */
#endif

#endif
