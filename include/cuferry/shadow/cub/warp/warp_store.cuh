/* warp_store.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_WARP_STORE_CUH
#define CUFERRY_CUB_WARP_STORE_CUH

#include "../block/block_store.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };

template <typename T, int ITEMS_PER_THREAD, WarpStoreAlgorithm ALGORITHM = WARP_STORE_DIRECT,
          int LOGICAL_WARP_THREADS = 32>
class WarpStore
{
    cf__lanes lanes;

  public:
    typedef cf__storage<cf__nothing> TempStorage;

    WarpStore(TempStorage &, CF__WHERE) : WarpStore(file, line)
    {
    }
    WarpStore(CF__WHERE) : lanes(cf__lanes_of<LOGICAL_WARP_THREADS>({"cub::WarpStore", file, line}))
    {
    }

    /* Works like Store() of BlockStore. */
    template <typename Iterator, typename... Guard>
    void Store(Iterator block_itr, T (&items)[ITEMS_PER_THREAD], Guard... guard)
    {
        if constexpr (ALGORITHM == WARP_STORE_TRANSPOSE)
            lanes.sync();
        if constexpr (ALGORITHM == WARP_STORE_STRIPED)
            StoreDirectStriped<LOGICAL_WARP_THREADS>(lanes.rank, block_itr, items, guard...);
        else
            StoreDirectBlocked(lanes.rank, block_itr, items, guard...);
    }
};
} /* namespace cub */
#endif

#endif
