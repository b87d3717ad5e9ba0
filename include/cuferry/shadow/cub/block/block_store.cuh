/* block_store.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_STORE_CUH
#define CUFERRY_CUB_BLOCK_STORE_CUH

#include "../thread/thread_store.cuh"
#include "block_exchange.cuh"
#include "block_load.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
#define CF__STORES(name, parameters, place)                               \
    template <parameters typename T, int items, typename Iterator>        \
    CF__FN void name(int thread, Iterator to, T(&values)[items], int end) \
    {                                                                     \
        for (int i = 0; i < items; i++)                                   \
            if ((place) < end)                                            \
                to[place] = values[i];                                    \
    }                                                                     \
    template <parameters typename T, int items, typename Iterator>        \
    CF__FN void name(int thread, Iterator to, T(&values)[items])          \
    {                                                                     \
        for (int i = 0; i < items; i++)                                   \
            to[place] = values[i];                                        \
    }
CF__STORES(StoreDirectBlocked, , thread *items + i)
CF__STORES(StoreDirectStriped, int BLOCK_THREADS CF__COMMA, thread + i * BLOCK_THREADS)
CF__STORES(StoreDirectWarpStriped, , thread / 32 * 32 * items + thread % 32 + i * 32)
#undef CF__STORES

template <typename T, int items> CF__FN void StoreDirectBlockedVectorized(int thread, T *to, T (&values)[items])
{
    StoreDirectBlocked(thread, to, values);
}

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1>
class BlockStore
{
    typedef cf__nothing Memory;
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    CF__BLOCK_CONSTRUCTORS(BlockStore)

    /* Each thread writes its own items. If threads exchange items on a GPU, they first wait for one another here
     * too. */
    template <typename Iterator, typename... Guard>
    void Store(Iterator block_itr, T (&items)[ITEMS_PER_THREAD], Guard... guard)
    {
        if constexpr (ALGORITHM == BLOCK_STORE_TRANSPOSE || ALGORITHM == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED)
            block.sync();
        if constexpr (ALGORITHM == BLOCK_STORE_WARP_TRANSPOSE)
            block.lanes().sync();
        if constexpr (ALGORITHM == BLOCK_STORE_STRIPED)
            StoreDirectStriped<Block::count>(block.rank, block_itr, items, guard...);
        else
            StoreDirectBlocked(block.rank, block_itr, items, guard...);
    }
};
} /* namespace cub */
#endif

#endif
