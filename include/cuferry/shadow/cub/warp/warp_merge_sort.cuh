/* warp_merge_sort.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_WARP_MERGE_SORT_CUH
#define CUFERRY_CUB_WARP_MERGE_SORT_CUH

#include "../block/block_merge_sort.cuh"

#if !defined CF__SCAN
namespace cub
{
template <typename KeyT, int ITEMS_PER_THREAD, int LOGICAL_WARP_THREADS = 32, typename ValueT = NullType>
class WarpMergeSort
    : public cf__merge_sort<KeyT, ValueT, ITEMS_PER_THREAD, LOGICAL_WARP_THREADS * ITEMS_PER_THREAD, cf__lanes>
{
    typedef cf__merge_sort<KeyT, ValueT, ITEMS_PER_THREAD, LOGICAL_WARP_THREADS * ITEMS_PER_THREAD, cf__lanes> Sorts;

  public:
    typedef typename Sorts::TempStorage TempStorage;

    WarpMergeSort(TempStorage &storage, CF__WHERE)
        : Sorts(storage, cf__lanes_of<LOGICAL_WARP_THREADS>({"cub::WarpMergeSort", file, line}))
    {
    }
};
} /* namespace cub */
#endif

#endif
