/* collected.cuh - arrays of integers to which the threads of a kernel only add, such as the counts of a histogram.
 *
 * Each call of a body collects the sums of its blocks in an array of its own, and at its end adds that array to the
 * caller's: atomic additions take many times as long as plain ones. The generator finds such arrays (see
 * gen/cpu/collected.py). */
#ifndef CUFERRY_CPU_COLLECTED_CUH
#define CUFERRY_CPU_COLLECTED_CUH

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/sync/atomics.cuh>
#include <cuferry/cpu/words.cuh>

#include "loop.cuh"

/* Most bytes of an array that is collected. */
enum { CF__SUMS_BYTES = 16384 };

/* One element of a collected array. It is in the call's own array or in the caller's array. */
template <typename T> struct cf__sum {
    T *cf__place;
    bool cf__is_own;

    CF__INLINE cf__sum operator&() const
    {
        return *this;
    }
};

/* The object that a kernel uses as the array. The call's own array holds the elements from `cf__first` on. */
template <typename T> struct cf__collected {
    typedef T cf__value;
    T *cf__array, *cf__own;
    uint64_t cf__first, cf__count; /* elements in cf__own; elements with other indices are in the caller's array */

    template <typename Index> CF__INLINE cf__sum<T> operator[](Index index) const
    {
        const uint64_t at = cf__first + (uint64_t)(ptrdiff_t)index;
        const bool is_own = at < cf__count;
        return {is_own ? cf__own + at : cf__array + at, is_own};
    }

    template <typename Index> CF__INLINE cf__collected operator+(Index index) const
    {
        return {cf__array, cf__own, cf__first + (uint64_t)(ptrdiff_t)index, cf__count};
    }

    template <typename Index> CF__INLINE cf__collected operator-(Index index) const
    {
        return {cf__array, cf__own, cf__first - (uint64_t)(ptrdiff_t)index, cf__count};
    }
};

template <typename T>
static inline CF__INLINE void atomicAdd(cf__sum<T> sum, typename cf__collected<T>::cf__value value)
{
    if (sum.cf__is_own)
        (void)__builtin_add_overflow(*sum.cf__place, value, sum.cf__place);
    else
        atomicAdd(sum.cf__place, value);
}

template <typename T>
static inline CF__INLINE void atomicAdd(cf__collected<T> array, typename cf__collected<T>::cf__value value)
{
    atomicAdd(array[0], value);
}

/* An array of the kernel that is not collected. A thread might read the sums through it. */
struct cf__beside {
    const void *at;
    uint64_t bytes;
};

/* The sums that one call of a body adds to an array of `extent` elements. */
template <typename T> struct cf__sums {
    alignas(64) T own[CF__SUMS_BYTES / sizeof(T)];
    T *array;
    uint64_t count;

    /* If the threads are fewer than the elements, the loops over all elements would take longer than they save. */
    template <size_t arrays>
    CF__INLINE cf__sums(const cf_host_launch *launch, uint64_t blocks, T *array, uint64_t extent,
                        const cf__beside (&others)[arrays])
        : array(array)
    {
        const uint64_t threads = blocks * launch->block.x * launch->block.y * launch->block.z;
        count = extent <= CF__SUMS_BYTES / sizeof(T) && extent <= threads ? extent : 0;
        const uint64_t begin = (uint64_t)(uintptr_t)array, end = begin + count * sizeof(T);
        for (const cf__beside &other : others)
            if ((uint64_t)(uintptr_t)other.at < end && begin < (uint64_t)(uintptr_t)other.at + other.bytes)
                count = 0;
        __builtin_memset(own, 0, count * sizeof(T));
    }

    CF__INLINE ~cf__sums()
    {
        for (uint64_t i = 0; i < count; i++)
            if (own[i])
                atomicAdd(&array[i], own[i]);
    }

    CF__INLINE cf__collected<T> collected()
    {
        return {array, own, 0, count};
    }
};

#endif
