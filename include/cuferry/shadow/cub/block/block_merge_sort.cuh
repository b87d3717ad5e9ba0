/* block_merge_sort.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_MERGE_SORT_CUH
#define CUFERRY_CUB_BLOCK_MERGE_SORT_CUH

#include "../util_type.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>
#include <cuferry/cpu/cub/sort.cuh>

namespace cub
{
/* The sorts of a block and of a warp. */
template <typename KeyT, typename ValueT, int ITEMS_PER_THREAD, int count, typename Threads> class cf__merge_sort
{
    Threads threads;
    cf__sorted<KeyT, ValueT, count> &memory;

  public:
    typedef cf__storage<cf__sorted<KeyT, ValueT, count>> TempStorage;

    cf__merge_sort(TempStorage &storage, const Threads &threads_) : threads(threads_), memory(storage.Alias())
    {
    }

/* Keys past the valid ones become `oob_default`. */
#define CF__MERGE_SORTS(name)                                                                                       \
    template <typename Compare>                                                                                     \
    void name(KeyT(&keys)[ITEMS_PER_THREAD], ValueT(&items)[ITEMS_PER_THREAD], Compare compare_op)                  \
    {                                                                                                               \
        cf__sort(threads, memory, keys, items, compare_op, count, threads.rank *ITEMS_PER_THREAD, 1);               \
    }                                                                                                               \
    template <typename Compare, bool IS_LAST_TILE = true>                                                           \
    void name(KeyT(&keys)[ITEMS_PER_THREAD], ValueT(&items)[ITEMS_PER_THREAD], Compare compare_op, int valid_items, \
              KeyT oob_default)                                                                                     \
    {                                                                                                               \
        for (int i = 0; i < ITEMS_PER_THREAD; i++)                                                                  \
            if (threads.rank * ITEMS_PER_THREAD + i >= valid_items)                                                 \
                keys[i] = oob_default;                                                                              \
        cf__sort(threads, memory, keys, items, compare_op, valid_items < count ? valid_items : count,               \
                 threads.rank * ITEMS_PER_THREAD, 1);                                                               \
    }                                                                                                               \
    template <typename Compare> void name(KeyT(&keys)[ITEMS_PER_THREAD], Compare compare_op)                        \
    {                                                                                                               \
        ValueT items[ITEMS_PER_THREAD];                                                                             \
        name(keys, items, compare_op);                                                                              \
    }                                                                                                               \
    template <typename Compare>                                                                                     \
    void name(KeyT(&keys)[ITEMS_PER_THREAD], Compare compare_op, int valid_items, KeyT oob_default)                 \
    {                                                                                                               \
        ValueT items[ITEMS_PER_THREAD];                                                                             \
        name(keys, items, compare_op, valid_items, oob_default);                                                    \
    }
    CF__MERGE_SORTS(Sort)
    CF__MERGE_SORTS(StableSort)
#undef CF__MERGE_SORTS
};

template <typename KeyT, int BLOCK_DIM_X, int ITEMS_PER_THREAD, typename ValueT = NullType, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1>
class BlockMergeSort
    : public cf__merge_sort<KeyT, ValueT, ITEMS_PER_THREAD, BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z * ITEMS_PER_THREAD,
                            cf__threads<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>>
{
    typedef cf__threads<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Threads;
    typedef cf__merge_sort<KeyT, ValueT, ITEMS_PER_THREAD, Threads::count * ITEMS_PER_THREAD, Threads> Sorts;

  public:
    typedef typename Sorts::TempStorage TempStorage;

    BlockMergeSort(TempStorage &storage, CF__WHERE) : Sorts(storage, Threads({"cub::BlockMergeSort", file, line}))
    {
    }
    BlockMergeSort(CF__WHERE) : BlockMergeSort(cf__private_storage<BlockMergeSort, TempStorage>(), file, line)
    {
    }
};
} /* namespace cub */
#endif

#endif
