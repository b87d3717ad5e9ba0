/* sort.cuh - CUB: a stable sort of the items of several threads, and the order of keys by their bits. */
#ifndef CUFERRY_CPU_CUB_SORT_CUH
#define CUFERRY_CPU_CUB_SORT_CUH

#include <tuple>
#include <type_traits>

#include <cuferry/cpu/words.cuh>

#include "collective.cuh"

namespace cub
{
/* Memory for the keys and values of all threads, in the order of the threads. */
template <typename Key, typename Value, int count> union cf__sorted {
    Key keys[count];
    Value values[count];
};

/* Sorts the first `valid` items, which the threads hold in ascending order of their ranks. `threads` has `rank` and
 * sync(). Thread t gets the items begin + i * step of the result. Two items keep their order if neither is less than
 * the other. */
template <int items, int count, typename Threads, typename Key, typename Value, typename Less>
CF__FN void cf__sort(const Threads &threads, cf__sorted<Key, Value, count> &memory, Key (&keys)[items],
                     Value (&values)[items], Less less, int valid, int begin, int step)
{
    /* Pairs of sorted runs are merged. The position of a key in the merged run is the sum of its position in its own
     * run and the number of keys before it in the other run. */
    int places[items];
    for (int i = 0; i < items; i++) {
        places[i] = threads.rank * items + i;
        memory.keys[places[i]] = keys[i];
    }
    threads.sync();
    for (int run = 1; run < valid; run *= 2) {
        for (int i = 0; i < items; i++) {
            if (places[i] >= valid)
                continue;
            const int first = places[i] / (2 * run) * (2 * run), second = first + run < valid ? first + run : valid;
            const bool is_second = places[i] >= second;
            int low = is_second ? first : second, high = is_second ? second : second + run;
            const int other = low;
            high = high < valid ? high : valid;
            while (low < high) {
                const int middle = low + (high - low) / 2;
                if (is_second ? !less(keys[i], memory.keys[middle]) : less(memory.keys[middle], keys[i]))
                    low = middle + 1;
                else
                    high = middle;
            }
            places[i] += low - other - (is_second ? run : 0);
        }
        threads.sync();
        for (int i = 0; i < items; i++)
            memory.keys[places[i]] = keys[i];
        threads.sync();
    }
    for (int i = 0; i < items; i++)
        keys[i] = memory.keys[begin + i * step];
    if constexpr (!::std::is_empty<Value>::value) {
        threads.sync();
        for (int i = 0; i < items; i++)
            memory.values[places[i]] = values[i];
        threads.sync();
        for (int i = 0; i < items; i++)
            values[i] = memory.values[begin + i * step];
    }
}

/* ---- Order by bits ---- */

template <size_t bytes> struct cf__bits_of_size;
template <> struct cf__bits_of_size<1> {
    typedef uint8_t type;
};
template <> struct cf__bits_of_size<2> {
    typedef uint16_t type;
};
template <> struct cf__bits_of_size<4> {
    typedef uint32_t type;
};
template <> struct cf__bits_of_size<8> {
    typedef uint64_t type;
};
template <> struct cf__bits_of_size<16> {
    __extension__ typedef unsigned __int128 type;
};

/* Returns the bits of a number in a form whose order, as unsigned numbers, is that of the numbers. Both zeros have the
 * bits of +0. */
template <typename T> CF__FN auto cf__ordered_bits(const T &number)
{
    typedef typename cf__bits_of_size<sizeof(T)>::type Bits;
    constexpr Bits top = (Bits)((Bits)1 << (8 * sizeof(T) - 1));
    Bits bits;
    __builtin_memcpy(&bits, &number, sizeof bits);
    if constexpr (!::std::is_floating_point<T>::value && !::std::is_class<T>::value) /* __half is a class */
        return (Bits)((T)-1 < (T)0 ? bits ^ top : bits);
    else if ((Bits)(bits << 1) == 0)
        return top;
    else
        return (Bits)(bits & top ? ~bits : bits | top);
}

/* Compares the bits `begin` to `end` - 1; returns a negative number, 0 or a positive number. */
template <typename T> CF__FN int cf__compare_bits(const T &a, const T &b, int begin, int end)
{
    constexpr int size = 8 * (int)sizeof(T);
    begin = begin > 0 ? begin : 0;
    end = end < size ? end : size;
    if (begin >= end)
        return 0;
    auto x = cf__ordered_bits(a), y = cf__ordered_bits(b);
    typedef decltype(x) Bits;
    x = (Bits)((Bits)(x << (size - end)) >> (size - end + begin));
    y = (Bits)((Bits)(y << (size - end)) >> (size - end + begin));
    return (x > y) - (x < y);
}

/* Compares decomposed keys, whose last member has the lowest bits. */
template <int number, typename Tuple>
CF__FN int cf__compare_members(const Tuple &a, const Tuple &b, int begin, int end)
{
    if constexpr (number < 0) {
        return 0;
    } else {
        constexpr int size = 8 * (int)sizeof(::std::get<number>(a));
        const int above = cf__compare_members<number - 1>(a, b, begin - size, end - size);
        return above ? above : cf__compare_bits(::std::get<number>(a), ::std::get<number>(b), begin, end);
    }
}

/* Takes the place of a missing decomposer: a key that is a number becomes a tuple with one element. */
struct cf__whole {
    template <typename T> auto operator()(T &key) const
    {
        return ::std::tie(key);
    }
};

template <typename Key, typename Decomposer> struct cf__order {
    Decomposer decomposer;
    bool is_descending;
    int begin, end;

    bool operator()(Key &a, Key &b)
    {
        const auto x = decomposer(a), y = decomposer(b);
        const int order =
            cf__compare_members<(int)::std::tuple_size<decltype(decomposer(a))>::value - 1>(x, y, begin, end);
        return is_descending ? order > 0 : order < 0;
    }
};

} /* namespace cub */

#endif
