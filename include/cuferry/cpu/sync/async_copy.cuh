/* async_copy.cuh - copies that threads of a group share, and cuda::aligned_size_t: a size with a guaranteed alignment. */
#ifndef CUFERRY_CPU_ASYNC_COPY_CUH
#define CUFERRY_CPU_ASYNC_COPY_CUH

#include <stddef.h>

#include <cuferry/cpu/words.cuh>

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

/* Each thread of the group copies a part. */
template <typename Group>
CF__FN CF__INLINE void cf__copy_part(const Group &group, void *to, const void *from, size_t bytes)
{
    const size_t threads = (size_t)group.size(), rank = (size_t)group.thread_rank();
    const size_t each = bytes / threads, more = bytes % threads;
    const size_t begin = each * rank + (rank < more ? rank : more);
    size_t own = each + (rank < more);
#if defined CF__THREADS_CHECKED
    __asm__("" : "+r"(own)); /* compilers do not warn about this copy */
#endif
    __builtin_memcpy(static_cast<char *>(to) + begin, static_cast<const char *>(from) + begin, own);
}

#endif
