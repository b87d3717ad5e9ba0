/* thread_search.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_THREAD_SEARCH_CUH
#define CUFERRY_CUB_THREAD_SEARCH_CUH

#include "../config.cuh"

#if !defined CF__SCAN
namespace cub
{
/* Returns the number of items before the first one that is not less than a value; items are in ascending order. */
template <typename Iterator, typename Offset, typename T>
CF__FN Offset LowerBound(Iterator items, Offset count, T value)
{
    Offset begin = 0;
    while (begin < count) {
        const Offset middle = begin + (count - begin) / 2;
        if (items[middle] < value)
            begin = middle + 1;
        else
            count = middle;
    }
    return begin;
}

/* Returns the number of items before the first one that is greater than a value; items are in ascending order. */
template <typename Iterator, typename Offset, typename T>
CF__FN Offset UpperBound(Iterator items, Offset count, T value)
{
    Offset begin = 0;
    while (begin < count) {
        const Offset middle = begin + (count - begin) / 2;
        if (value < items[middle])
            count = middle;
        else
            begin = middle + 1;
    }
    return begin;
}
} /* namespace cub */
#endif

#endif
