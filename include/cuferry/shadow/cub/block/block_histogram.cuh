/* block_histogram.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_HISTOGRAM_CUH
#define CUFERRY_CUB_BLOCK_HISTOGRAM_CUH

#include "../config.cuh"

#if !defined CF__SCAN
#include <type_traits>

#include <cuferry/cpu/cub/collective.cuh>
#include <cuferry/cpu/sync/atomics.cuh>

namespace cub
{
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <typename T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, int BINS,
          BlockHistogramAlgorithm ALGORITHM = BLOCK_HISTO_SORT, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1>
class BlockHistogram
{
    typedef cf__nothing Memory;
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    CF__BLOCK_CONSTRUCTORS(BlockHistogram)

    template <typename Counter> void InitHistogram(Counter histogram[BINS])
    {
        for (int bin = block.rank; bin < BINS; bin += Block::count)
            histogram[bin] = 0;
    }

    /* Adds to a histogram. */
    template <typename Counter> void Composite(T (&items)[ITEMS_PER_THREAD], Counter histogram[BINS])
    {
        if constexpr (ALGORITHM == BLOCK_HISTO_SORT) /* on a GPU, this algorithm waits while it sorts */
            block.sync();
        for (int i = 0; i < ITEMS_PER_THREAD; i++) {
            Counter *const counter = &histogram[items[i]];
            if constexpr (::std::is_integral<Counter>::value)
                __atomic_fetch_add(counter, (Counter)1, __ATOMIC_RELAXED);
            else
                atomicAdd(counter, (Counter)1);
        }
    }

    template <typename Counter> void Histogram(T (&items)[ITEMS_PER_THREAD], Counter histogram[BINS])
    {
        InitHistogram(histogram);
        block.sync();
        Composite(items, histogram);
    }
};
} /* namespace cub */
#endif

#endif
