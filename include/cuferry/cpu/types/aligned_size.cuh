/* aligned_size.cuh - cuda::aligned_size_t: a size with a guaranteed alignment. */
#ifndef CUFERRY_CPU_ALIGNED_SIZE_CUH
#define CUFERRY_CPU_ALIGNED_SIZE_CUH

#include <stddef.h>

namespace cuda
{
template <size_t Alignment> struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;

    explicit constexpr aligned_size_t(size_t size) : value(size)
    {
    }

    constexpr operator size_t() const
    {
        return value;
    }
};
} /* namespace cuda */

#endif
