/* swap.h - replaces the toolkit's thrust/swap.h when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_THRUST_SWAP_H
#define CUFERRY_THRUST_SWAP_H

#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN
namespace thrust
{
template <typename T> CF__FN void swap(T &a, T &b)
{
    const T kept = a;
    a = b;
    b = kept;
}
} /* namespace thrust */
#endif

#endif
