/* spans.cuh - ranges of a block's threads along x for which comparisons hold. */
#ifndef CUFERRY_CPU_SPANS_CUH
#define CUFERRY_CPU_SPANS_CUH

#include <stddef.h>
#include <stdint.h>

#include "scopes.cuh"

template <typename A, typename B> static constexpr bool cf__is_equal = false;
template <typename A> static constexpr bool cf__is_equal<A, A> = true;
/* True if two types are the same apart from `const` and references. */
template <typename A, typename B>
static constexpr bool cf__is_one = cf__is_equal<typename cf__plain_type<A>::type, typename cf__plain_type<B>::type>;

/* True if a comparison of an index of type T with a limit can narrow a range of threads. `is_signed`: the index may be
 * negative, so that both types have to be signed. */
template <typename T, typename Limit, bool is_signed>
static constexpr bool cf__is_bound = cf__number<typename cf__plain_type<T>::type>::cf__is_wide &&
                                         cf__number<typename cf__plain_type<Limit>::type>::is_whole &&
                                     (!is_signed || (decltype((typename cf__plain_type<T>::type)0 +
                                                              (typename cf__plain_type<Limit>::type)0))-1 < 0);

/* True if T holds every number of type Value and both are signed: then a sum that grows by 1 from thread to thread does
 * not wrap around. */
template <typename T, typename Value>
static constexpr bool cf__is_straight = cf__number<typename cf__plain_type<Value>::type>::cf__is_wide && (T)-1 < 0 &&
                                        (typename cf__plain_type<Value>::type) - 1 < 0 && sizeof(Value) <= sizeof(T);

/* True if T holds a number of the unsigned 32-bit type Value that is a multiple of `size` plus a thread's number in a
 * row of `most` threads. Then the number neither wraps around nor changes its sign within a row. */
template <typename T, typename Value, long size, long most>
static constexpr bool cf__is_aligned = cf__number<typename cf__plain_type<Value>::type>::cf__is_wide &&
                                           cf__number<typename cf__plain_type<T>::type>::cf__is_wide &&
                                       (typename cf__plain_type<Value>::type)(-1) > 0 && sizeof(Value) == 4 &&
                                       (size & (size - 1)) == 0 && size <= 1024 && most <= size;

/* The largest index that surely does not wrap around when a thread's number or a small size is added. */
template <size_t size> static constexpr uint64_t cf__most_index = size == 4 ? 0x7fe00000 : 0x7fe0000000000000;
template <typename T, typename Value>
static constexpr uint64_t cf__most_of = cf__most_index<(sizeof(T) < sizeof(Value) ? sizeof(T) : sizeof(Value))>;

/* True if cf__wraps_around() can test a number of type Value that is converted to an index of type T. `may_be_less`:
 * the index may be negative; it is signed if Value is unsigned. */
template <typename T, typename Value, bool may_be_less>
static constexpr bool cf__is_tested = cf__number<typename cf__plain_type<Value>::type>::cf__is_wide &&
                                          cf__number<typename cf__plain_type<T>::type>::cf__is_wide &&
                                      (!may_be_less ||
                                       ((typename cf__plain_type<Value>::type)(-1) > 0 &&
                                        (typename cf__plain_type<T>::type) - 1 < 0 && sizeof(T) == sizeof(Value)));

/* True if `more` can be added to an index without wrapping around, because the index was tested or is limited by the
 * size of a launch. */
template <typename Sum, typename T, long more>
static constexpr bool cf__is_near = cf__number<typename cf__plain_type<Sum>::type>::cf__is_wide
                                            &&cf__number<typename cf__plain_type<T>::type>::cf__is_wide &&more >= 0 &&
                                    more <= 1 << 20 && sizeof(T) <= sizeof(Sum);

/* True if an index may wrap around within a row of threads. `value`: the index of the row's first thread before its
 * conversion to T. */
template <typename T, bool may_be_less, typename Value> static inline CF__INLINE bool cf__wraps_around(Value value)
{
    if constexpr (!cf__is_tested<T, Value, may_be_less>)
        return false;
    else if constexpr (may_be_less)
        return (T)value > (T)cf__most_of<T, Value>;
    else
        return value < 0 || (uint64_t)value > cf__most_of<T, Value>;
}

/* True if a loop's variable of type T may wrap around because its start, limit or step is `value`. */
template <typename T, typename Value> static inline CF__INLINE bool cf__is_far(Value value)
{
    return value < 0 || (uint64_t)value > (uint64_t)1 << (sizeof(T) > 4 ? 61 : 29);
}

/* Returns the index of thread `x` of a row, in a form that tells compilers that it does not wrap around. */
template <typename T, bool may_be_less, typename Value>
static inline CF__INLINE T cf__in_row(Value value, unsigned int x)
{
    if constexpr (!cf__is_tested<T, Value, may_be_less>) {
        return static_cast<T>(value);
    } else if constexpr (T(-1) < T(0) && sizeof(T) == sizeof value) {
        return static_cast<T>(value - x) + static_cast<T>(x);
    } else {
        const Value first = value - x, most = (Value)cf__most_of<T, Value>;
        return static_cast<T>((first < most ? first : most) + x);
    }
}

/* The integer type that holds the differences of all integers of `size` bytes. */
template <size_t size> struct cf__of_size {
    typedef uint64_t type;
};
template <> struct cf__of_size<4> {
    typedef uint32_t type;
};
template <typename T> using cf__count = typename cf__of_size<sizeof(T)>::type;

/* The range of a row's threads for which comparisons of an index with a limit hold. `first`: index of the row's first
 * thread. Comparisons are those of C++ in the common type of both. */
struct cf__span_of {
    int cf__begin, cf__end, cf__step;

    template <typename Scope>
    explicit CF__INLINE cf__span_of(const Scope &scope) : cf__begin(0), cf__end(scope.cf__columns()), cf__step(1)
    {
    }

    CF__INLINE void cf__only(bool holds)
    {
        if (!holds)
            cf__end = 0;
    }

    template <bool is_bound, typename T, typename Limit> CF__INLINE void cf__below(T first, Limit limit)
    {
        if constexpr (is_bound) {
            typedef decltype(first + limit) common;
            const common most = limit, least = first;
            const cf__count<common> count = (cf__count<common>)most - (cf__count<common>)least;
            if (most <= least)
                cf__end = 0;
            else if (count < (cf__count<common>)cf__end)
                cf__end = (int)count;
        }
    }

    template <bool is_bound, typename T, typename Limit> CF__INLINE void cf__up_to(T first, Limit limit)
    {
        if constexpr (is_bound) {
            typedef decltype(first + limit) common;
            const common most = limit, least = first;
            const cf__count<common> count = (cf__count<common>)most - (cf__count<common>)least;
            if (most < least)
                cf__end = 0;
            else if (count < (cf__count<common>)cf__end)
                cf__end = (int)count + 1;
        }
    }

    template <bool is_bound, typename T, typename Limit> CF__INLINE void cf__from(T first, Limit limit)
    {
        if constexpr (is_bound) {
            typedef decltype(first + limit) common;
            const common least = limit, start = first;
            const cf__count<common> count = (cf__count<common>)least - (cf__count<common>)start;
            if (least > start)
                cf__begin = count >= (cf__count<common>)cf__end ? cf__end
                            : cf__begin < (int)count            ? (int)count
                                                                : cf__begin;
        }
    }

    template <bool is_bound, typename T, typename Limit> CF__INLINE void cf__above(T first, Limit limit)
    {
        if constexpr (is_bound) {
            typedef decltype(first + limit) common;
            const common least = limit, start = first;
            const cf__count<common> count = (cf__count<common>)least - (cf__count<common>)start;
            if (least >= start)
                cf__begin = count >= (cf__count<common>)cf__end ? cf__end
                            : cf__begin <= (int)count           ? (int)count + 1
                                                                : cf__begin;
        }
    }

    template <bool is_bound, typename T, typename Limit> CF__INLINE void cf__equal(T first, Limit limit)
    {
        cf__from<is_bound>(first, limit);
        cf__up_to<is_bound>(first, limit);
    }

    /* Keeps the larger one of the two parts of the range in which the index is not equal to the limit. */
    template <bool is_bound, typename T, typename Limit> CF__INLINE void cf__unequal(T first, Limit limit)
    {
        cf__span_of at = *this;
        at.cf__equal<is_bound>(first, limit);
        if (at.cf__begin >= at.cf__end)
            return;
        if (at.cf__begin - cf__begin > cf__end - at.cf__end)
            cf__end = at.cf__begin;
        else
            cf__begin = at.cf__end;
    }

    /* Keeps the threads whose index is below `limit` + `more`, or all others if not `is_below`. The index is `first` in
     * the row's first thread, a converted Value, and grows by `by` from thread to thread. Returns false without any
     * change if the index may wrap around or change its sign. */
    template <typename Value, bool is_below, bool is_known, typename T, typename Limit>
    CF__INLINE bool cf__scaled(T first, unsigned long long by, Limit limit, int more)
    {
        typedef typename cf__plain_type<Value>::type own;
        if constexpr (!is_known || !cf__number<own>::cf__is_wide || !cf__number<T>::cf__is_wide ||
                      !cf__number<Limit>::is_whole || sizeof(own) > 4 || sizeof(T) > 4 || sizeof(Limit) > 4) {
            return false;
        } else {
            constexpr bool is_signed = (T)-1 < 0, may_wrap = !(is_signed && (own)-1 < 0);
            const long long start = first, most = (long long)limit, all = cf__end;
            if (by > 1 << 20 || (is_signed != ((Limit)-1 < 0) && (start < 0 || most < 0)) ||
                (may_wrap && start + (long long)by * all > (is_signed ? 0x7fffffffll : 0xffffffffll)))
                return false;
            const long long step = (long long)by, rest = most + more - start;
            const long long count = rest <= 0 ? 0 : step == 0 ? all : (rest - 1) / step + 1;
            const int edge = (int)(count < all ? count : all);
            if (is_below)
                cf__end = edge;
            else if (cf__begin < edge)
                cf__begin = edge;
            return true;
        }
    }

    /* Excludes the threads at both ends for which a condition is false. Returns true if the condition is true for all
     * threads in between. */
    template <typename Holds> CF__INLINE bool cf__shrink(const Holds &holds)
    {
        while (cf__begin < cf__end && !holds(cf__begin))
            cf__begin++;
        while (cf__begin < cf__end && !holds(cf__end - 1))
            cf__end--;
        int all = 1;
        for (int x = cf__begin; x < cf__end; x++)
            all &= (int)holds(x);
        return all;
    }

    /* If `divides`, keeps only the first threads, for which the quotient of index and size is the same. `first`: the
     * index of the first thread in the range. */
    template <bool divides, typename T, typename Size> CF__INLINE void cf__keep_one_quotient(T first, Size size)
    {
        if constexpr (divides) {
            typedef decltype(first + size) common;
            const uint64_t count = (uint64_t)((common)size - (common)first % (common)size);
            if (count < (uint64_t)(cf__end - cf__begin))
                cf__end = cf__begin + (int)count;
        }
    }

    /* Keeps only the threads whose index is a multiple of `size`, if the index does not wrap around at 0; otherwise
     * each thread tests its index. All comparisons have to come before this call. */
    template <typename T, typename Size> CF__INLINE void cf__every(T first, Size size)
    {
        if constexpr (cf__number<T>::cf__is_wide && cf__number<Size>::is_whole) {
            typedef decltype(first + size) common;
            const common start = (common)first, by = (common)size;
            if (by <= 1 || start < 0 || start > 0x7fff0000 || cf__step != 1)
                return;
            const common rest = (start + (common)cf__begin) % by, skipped = rest ? by - rest : 0;
            cf__begin = skipped < (common)(cf__end - cf__begin) ? cf__begin + (int)skipped : cf__end;
            cf__step = by < 1024 ? (int)by : 1024;
        }
    }

    /* Moves an empty range to the end of `whole`, so that all threads of `whole` come before it. */
    CF__INLINE void cf__within(const cf__span_of &whole)
    {
        if (cf__begin >= cf__end)
            cf__begin = cf__end = whole.cf__begin < whole.cf__end ? whole.cf__end : whole.cf__begin;
    }

    /* True if there are threads before `inner` or after it. */
    CF__INLINE bool cf__is_more(const cf__span_of &inner) const
    {
        return cf__begin < inner.cf__begin || inner.cf__end < cf__end;
    }

    /* Returns the threads of this range that come before `inner` (side 0) or after it (side 1). */
    CF__INLINE cf__span_of cf__beside(const cf__span_of &inner, int side) const
    {
        cf__span_of found = *this;
        if (side == 0)
            found.cf__end = inner.cf__begin;
        else
            found.cf__begin = inner.cf__end;
        return found;
    }
};

/* The result of a loop's conditions for all of its threads: 1 if all conditions hold, -1 if the only condition does not
 * hold, 0 if each thread has to test them. */
template <int value> struct cf__piece_of {
    static constexpr bool cf__is_inside = value > 0, cf__is_outside = value < 0;
};

/* True if a row of threads may be divided where the quotient of an index and a size changes, and if this pays. It is
 * right only if the size is positive and the index neither is negative nor wraps around, so that the remainder grows by
 * 1. `is_known`: the types allow it. `first`: the index in the row's first thread. */
template <bool is_known, typename T, typename Size> static inline CF__INLINE bool cf__may_divide_row(T first, Size size)
{
    if constexpr (is_known)
        return first >= 0 && (uint64_t)first <= cf__most_index<sizeof first> && size > 4;
    else
        return false;
}

/* The value of a quotient, or of a remainder that grows by 1 from thread to thread, in the first thread of a range. */
template <typename T> struct cf__first_value {
    T cf__value;

    /* Returns the remainder in a later thread. Its form tells compilers that it does not wrap around. */
    CF__INLINE T cf__at(int x) const
    {
        constexpr T most = (T)cf__most_index<sizeof(T)>;
        return (cf__value < most ? cf__value : most) + (T)x;
    }
};

/* The value of a variable of type T in the first thread. `straight` is true if the variable grows by 1 from thread to
 * thread and a loop's condition holds for the first threads. */
template <typename T, bool straight> struct cf__start {
    static constexpr bool cf__is_straight = straight;
    T cf__value;
};

/* True if a condition holds for some thread. `is_straight`: it holds for the first thread if it holds for any. */
template <bool is_straight, typename Scope, typename Goes>
static inline CF__INLINE bool cf__any_goes(const Scope &scope, const Goes &goes)
{
    if constexpr (is_straight)
        return goes(0, 0, 0);
    for (int z = 0; z < scope.cf__layers(); z++)
        for (int y = 0; y < scope.cf__rows(); y++)
            for (int x = 0; x < scope.cf__columns(); x++)
                if (goes(x, y, z))
                    return true;
    return false;
}

#endif
