/* block_radix_sort.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_RADIX_SORT_CUH
#define CUFERRY_CUB_BLOCK_RADIX_SORT_CUH

#include "../util_type.cuh"
#include "block_exchange.cuh"
#include "block_scan.cuh"

#if !defined CF__SCAN
#include <type_traits>

#include <cuferry/cpu/cub/collective.cuh>
#include <cuferry/cpu/cub/sort.cuh>

enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte
};

namespace cub
{
template <typename KeyT, int BLOCK_DIM_X, int ITEMS_PER_THREAD, typename ValueT = NullType, int RADIX_BITS = 4,
          bool MEMOIZE_OUTER_SCAN = true, BlockScanAlgorithm INNER_SCAN_ALGORITHM = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig SMEM_CONFIG = cudaSharedMemBankSizeFourByte, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1>
class BlockRadixSort
{
    typedef cf__sorted<KeyT, ValueT, BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z * ITEMS_PER_THREAD> Memory;
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    enum { count = Block::count * ITEMS_PER_THREAD };
    Block block;

    template <bool is_descending, bool is_striped, typename Value, typename Decomposer>
    void sort(KeyT (&keys)[ITEMS_PER_THREAD], Value (&values)[ITEMS_PER_THREAD], Decomposer decomposer, int begin,
              int end)
    {
        const cf__order<KeyT, Decomposer> less = {decomposer, is_descending, begin, end};
        if constexpr (is_striped)
            cf__sort(block, block.memory, keys, values, less, count, block.rank, Block::count);
        else
            cf__sort(block, block.memory, keys, values, less, count, block.rank * ITEMS_PER_THREAD, 1);
    }

    template <typename Decomposer>
    using IfDecomposer = typename ::std::enable_if<!::std::is_convertible<Decomposer, int>::value>::type;

    CF__BLOCK_CONSTRUCTORS(BlockRadixSort)

/* A decomposer returns a tuple of references to a key's members. The first member is compared first. */
#define CF__SORTS(name, is_descending, is_striped)                                                            \
    void name(KeyT(&keys)[ITEMS_PER_THREAD], int begin_bit = 0, int end_bit = sizeof(KeyT) * 8)               \
    {                                                                                                         \
        name(keys, cf__whole(), begin_bit, end_bit);                                                          \
    }                                                                                                         \
    void name(KeyT(&keys)[ITEMS_PER_THREAD], ValueT(&values)[ITEMS_PER_THREAD], int begin_bit = 0,            \
              int end_bit = sizeof(KeyT) * 8)                                                                 \
    {                                                                                                         \
        name(keys, values, cf__whole(), begin_bit, end_bit);                                                  \
    }                                                                                                         \
    template <typename Decomposer>                                                                            \
    IfDecomposer<Decomposer> name(KeyT(&keys)[ITEMS_PER_THREAD], Decomposer decomposer, int begin_bit = 0,    \
                                  int end_bit = INT_MAX)                                                      \
    {                                                                                                         \
        static_assert(::std::is_same<ValueT, NullType>::value, "a sort of keys and values needs the values"); \
        ValueT values[ITEMS_PER_THREAD];                                                                      \
        sort<is_descending, is_striped>(keys, values, decomposer, begin_bit, end_bit);                        \
    }                                                                                                         \
    template <typename Decomposer>                                                                            \
    IfDecomposer<Decomposer> name(KeyT(&keys)[ITEMS_PER_THREAD], ValueT(&values)[ITEMS_PER_THREAD],           \
                                  Decomposer decomposer, int begin_bit = 0, int end_bit = INT_MAX)            \
    {                                                                                                         \
        sort<is_descending, is_striped>(keys, values, decomposer, begin_bit, end_bit);                        \
    }
    CF__SORTS(Sort, false, false)
    CF__SORTS(SortDescending, true, false)
    CF__SORTS(SortBlockedToStriped, false, true)
    CF__SORTS(SortDescendingBlockedToStriped, true, true)
#undef CF__SORTS
};
} /* namespace cub */
#endif

#endif
