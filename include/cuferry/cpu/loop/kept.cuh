/* kept.cuh - variables of each thread whose values several regions of a kernel use: an element for each thread. */
#ifndef CUFERRY_CPU_KEPT_CUH
#define CUFERRY_CPU_KEPT_CUH

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/words.cuh>

#include "loop.cuh"

template <typename T> struct cf__variable {
    typedef T type;
};
template <typename T> struct cf__variable<const T> : cf__variable<T> {
};
/* Keeps a bool as an int. Compilers turn comparisons of numbers into masks, but they cannot do this with bools from
 * memory. */
template <> struct cf__variable<bool> {
    typedef int type;
};

/* The number and the type of a vector's elements, for vectors of two to four numbers such as float4. Other types count
 * as one element. */
template <typename T, typename = void> struct cf__elements {
    static constexpr int count = 1;
    typedef T type;
};
template <typename T> struct cf__elements<T, decltype((void)T::x)> {
    typedef typename cf__variable<decltype(T::x)>::type type;
    static constexpr bool is_vector = __is_trivially_copyable(T) && cf__number<type>::is_number &&
                                      sizeof(T) % sizeof(type) == 0 && sizeof(T) <= 4 * sizeof(type);
    static constexpr int count = is_vector ? (int)(sizeof(T) / sizeof(type)) : 1;
};

/* The number of arrays on the stack, where compilers know all accesses, that keep a variable. There is one array for
 * each element of the variable, and none for a large variable. */
template <typename T> constexpr int cf__count_arrays()
{
    return sizeof(T) <= 8 || (cf__elements<T>::count > 1 && sizeof(T) <= 16) ? cf__elements<T>::count : 0;
}

/* The elements of one thread's variable. Equal elements of neighbouring threads are adjacent in memory. */
template <typename T, int most, int arrays> struct cf__kept_elements {
    typedef typename cf__elements<T>::type element;
    element *first;

    CF__INLINE operator T() const
    {
        typename cf__variable<T>::type value;
        for (int i = 0; i < arrays; i++)
            reinterpret_cast<element *>(&value)[i] = first[i * most];
        return value;
    }
};

/* A variable of each thread of a block or a warp, for at most `most` threads. */
template <typename T, int most, int arrays = cf__count_arrays<T>()> struct cf__kept {
    struct {
        alignas(32) typename cf__elements<T>::type elements[arrays * most];

        CF__INLINE cf__kept_elements<T, most, arrays> operator[](int t)
        {
            return {&elements[t]};
        }
    } cf__values;

    explicit CF__INLINE cf__kept(const cf_host_shape *)
    {
    }
};

template <typename T, int most> struct cf__kept<T, most, 1> {
    union {
        alignas(32) typename cf__variable<T>::type cf__values[most];
    };

    explicit CF__INLINE cf__kept(const cf_host_shape *)
    {
    }

    CF__INLINE ~cf__kept()
    {
    }
};

template <typename T, int most> struct cf__kept<T, most, 0> {
    typedef typename cf__variable<T>::type type;
    type *cf__values;

    explicit CF__INLINE cf__kept(const cf_host_shape *key)
    {
        cf_host_block *block = static_cast<const cf__running &>(::cf__index).state;
        cf__values = static_cast<type *>(
            block->ops->shared(block, key, ((blockDim.x * blockDim.y * blockDim.z + 31) & ~31u) * sizeof(type),
                               alignof(T) > 64 ? alignof(T) : 64));
    }
};

/* The elements of one thread's array. Equal elements of neighbouring threads are adjacent in memory. */
template <typename T, int most> struct cf__column {
    T *first;

    CF__INLINE T &operator[](int64_t number) const
    {
        return first[number * most];
    }
};

template <typename T, int most> struct cf__columns {
    T *first;

    CF__INLINE cf__column<T, most> operator[](int t) const
    {
        return {first + t};
    }
};

/* An array of each thread of which only single elements are read and written. It is on the stack, or in other memory if
 * `arrays` is 0. The arrays of threads follow one another if they are long. */
template <typename T, int most, int arrays = 1, bool is_short = sizeof(T) <= 64>
struct cf__kept_column : cf__kept<T, most, 0> {
    using cf__kept<T, most, 0>::cf__kept;
};

template <typename T, size_t length, int most> struct cf__kept_column<T[length], most, 1, true> {
    struct {
        alignas(32) T elements[length * most];

        CF__INLINE cf__column<T, most> operator[](int t)
        {
            return {elements + t};
        }
    } cf__values;

    explicit CF__INLINE cf__kept_column(const cf_host_shape *)
    {
    }
};

template <typename T, size_t length, int most> struct cf__kept_column<T[length], most, 0, true> {
    cf__columns<T, most> cf__values;

    explicit CF__INLINE cf__kept_column(const cf_host_shape *key)
    {
        cf_host_block *block = static_cast<const cf__running &>(::cf__index).state;
        cf__values.first = static_cast<T *>(block->ops->shared(block, key, length * most * sizeof(T), 64));
    }
};

/* A variable of each thread of a block, as a section sees it: the elements of one warp's lanes. */
template <typename Kept> struct cf__kept_from {
    struct {
        Kept &whole;
        int from;

        CF__INLINE decltype(auto) operator[](int t) const
        {
            return whole.cf__values[from + t];
        }
    } cf__values;

    CF__INLINE cf__kept_from(Kept &whole, int from) : cf__values{whole, from}
    {
    }
};

/* Stores the value of a variable. Constants, and classes with constant members, are written only by this function. */
template <typename T> static inline CF__INLINE void cf__keep(T &kept, const T &value)
{
    if constexpr (__is_assignable(T &, const T &))
        kept = value;
    else
        __builtin_memcpy((void *)&kept, &value, sizeof kept);
}

template <typename T, int most, int arrays>
static inline CF__INLINE void cf__keep(cf__kept_elements<T, most, arrays> kept,
                                       const typename cf__variable<T>::type &value)
{
    for (int i = 0; i < arrays; i++)
        kept.first[i * most] = reinterpret_cast<const typename cf__elements<T>::type *>(&value)[i];
}

template <typename T, int most, size_t length>
static inline CF__INLINE void cf__keep(const cf__column<T, most> &kept, const T (&values)[length])
{
    for (size_t i = 0; i < length; i++)
        kept[(int64_t)i] = values[i];
}

static inline CF__INLINE void cf__keep(int &kept, bool value)
{
    kept = value;
}

template <typename T, size_t count> static inline CF__INLINE void cf__keep(T (&kept)[count], const T (&values)[count])
{
    for (size_t i = 0; i < count; i++)
        cf__keep(kept[i], values[i]);
}

#endif
