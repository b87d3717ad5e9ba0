/* warp_load.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_WARP_LOAD_CUH
#define CUFERRY_CUB_WARP_LOAD_CUH

#include "../block/block_load.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };

template <typename InputT, int ITEMS_PER_THREAD, WarpLoadAlgorithm ALGORITHM = WARP_LOAD_DIRECT,
          int LOGICAL_WARP_THREADS = 32>
class WarpLoad
{
    cf__lanes lanes;

  public:
    typedef cf__storage<cf__nothing> TempStorage;

    WarpLoad(TempStorage &, CF__WHERE) : WarpLoad(file, line)
    {
    }
    WarpLoad(CF__WHERE) : lanes(cf__lanes_of<LOGICAL_WARP_THREADS>({"cub::WarpLoad", file, line}))
    {
    }

    /* Works like Load() of BlockLoad. */
    template <typename Iterator, typename... Guard>
    void Load(Iterator block_itr, InputT (&items)[ITEMS_PER_THREAD], Guard... guard)
    {
        if constexpr (ALGORITHM == WARP_LOAD_STRIPED)
            LoadDirectStriped<LOGICAL_WARP_THREADS>(lanes.rank, block_itr, items, guard...);
        else
            LoadDirectBlocked(lanes.rank, block_itr, items, guard...);
        if constexpr (ALGORITHM == WARP_LOAD_TRANSPOSE)
            lanes.sync();
    }
};
} /* namespace cub */
#endif

#endif
