/* scans.cuh - loops in which the threads of a block scan or reduce an array; see gen/cpu/scans.py.
 *
 * Floats are added in the order of the steps. Sums of integers are the same in any order. */
#ifndef CUFERRY_CPU_SCANS_CUH
#define CUFERRY_CPU_SCANS_CUH

#include <stdint.h>

#include <cuferry/cpu/words.cuh>

#include "loop.cuh"
#include "spans.cuh"

enum cf__operation { CF__SUM, CF__MIN, CF__MAX };

template <typename T, typename Other> static constexpr bool cf__same = false;
template <typename T> static constexpr bool cf__same<T, T> = true;

/* True if all operations of a loop, on elements and on values of other types, have the same numeric type. `has_reals`:
 * the loop has constants with a fraction, to whose type integers would be converted. */
template <typename T, cf__operation operation, bool has_reals, typename... Types>
static constexpr bool cf__are_sums_of =
    cf__number<T>::is_number && !__is_enum(T) && !cf__same<T, bool> &&
    (cf__number<T>::is_whole ? !has_reals : operation == CF__SUM) && (true && ... && cf__same<T, Types>);
template <cf__operation operation, bool has_reals, typename Element, typename... Types>
static constexpr bool cf__are_sums =
    cf__are_sums_of<typename cf__plain_type<Element>::type, operation, has_reals, Types...>;

template <cf__operation operation, typename T> static inline CF__INLINE CF__OF_BLOCK T cf__combine(T left, T right)
{
    if constexpr (operation == CF__MIN) {
        return right < left ? right : left;
    } else if constexpr (operation == CF__MAX) {
        return left < right ? right : left;
    } else if constexpr (cf__number<T>::is_whole) {
        T sum;
        (void)__builtin_add_overflow(left, right, &sum);
        return sum;
    } else {
        return left + right;
    }
}

/* A vector of eight elements at any address, for sums. If no such vector exists, `type` is a plain number. */
typedef int32_t cf__places __attribute__((vector_size(32)));
template <typename T, bool is_whole = cf__number<T>::is_whole, size_t size = sizeof(T)> struct cf__eight {
    static constexpr bool cf__exists = false;
    typedef T type;
};
template <typename T> struct cf__eight<T, true, 4> {
    static constexpr bool cf__exists = true;
    typedef uint32_t type __attribute__((vector_size(32), aligned(4), may_alias));
};
template <> struct cf__eight<float, false, 4> {
    static constexpr bool cf__exists = true;
    typedef float type __attribute__((vector_size(32), aligned(4), may_alias));
};
#ifdef __clang__
#define CF__PICK __builtin_shufflevector
#else
#define CF__PICK(low, high, ...) __builtin_shuffle(low, high, cf__places{__VA_ARGS__})
#endif

/* Replaces each element by the sum of all elements up to it. With `is_before`, the sum lacks the element itself; then
 * the first element gets the last result, and the last element the sum of all elements. */
template <cf__operation operation, int count, bool is_before = false, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__accumulate(T *values)
{
    int done = is_before ? 0 : 1;
    T sum = is_before ? static_cast<T>(0) : values[0];
    if constexpr (operation == CF__SUM && cf__eight<T>::cf__exists && count >= 8) {
        typedef typename cf__eight<T>::type vector;
        vector before = {}, none = {};
        for (done = 0; done + 8 <= count; done += 8) {
            vector &place = *reinterpret_cast<vector *>(values + done), own = place;
            [[maybe_unused]] const vector given = own;
            own += CF__PICK(own, none, 8, 0, 1, 2, 3, 4, 5, 6);
            own += CF__PICK(own, none, 8, 8, 0, 1, 2, 3, 4, 5);
            own += CF__PICK(own, none, 8, 8, 8, 8, 0, 1, 2, 3);
            place = is_before ? own - given + before : own + before;
            before += CF__PICK(own, own, 7, 7, 7, 7, 7, 7, 7, 7);
        }
        sum = static_cast<T>(before[0]);
    }
    for (; done < count; done++) {
        const T own = cf__combine<operation>(sum, values[done]);
        values[done] = is_before ? sum : own;
        sum = own;
    }
    if constexpr (is_before) {
        values[0] = values[count - 1];
        values[count - 1] = sum;
    }
}

/* Adds to each element, from the one with number `first` on, the element that is `distance` before it. */
template <cf__operation operation, int count, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__add_before(T *values, int distance, int first)
{
    int end = count;
    if constexpr (operation == CF__SUM && cf__eight<T>::cf__exists)
        for (typedef typename cf__eight<T>::type vector; end - 8 >= first; end -= 8)
            *reinterpret_cast<vector *>(values + end - 8) += *reinterpret_cast<vector *>(values + end - 8 - distance);
    while (--end >= first)
        values[end] = cf__combine<operation>(values[end], values[end - distance]);
}

/* Takes all steps with one vector before the next vector: each step needs results of the previous step in earlier
 * vectors. The vector before the first one holds -0, which does not change a number when it is added. */
template <int count, int steps, bool has_zeros, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_vectors(T *values)
{
    typedef typename cf__eight<T>::type vector;
    constexpr int places = steps > 3 ? 1 << (steps - 3) : 1;
    vector earlier[places], first, second, third;
    first = second = third = has_zeros ? vector{} : -vector{};
    for (int i = 0; i < places; i++)
        earlier[i] = first;
    for (int i = 0; i < count; i += 8) {
        vector &place = *reinterpret_cast<vector *>(values + i), own = place;
        const vector one = own;
        own += CF__PICK(first, own, 7, 8, 9, 10, 11, 12, 13, 14);
        first = one;
        if constexpr (steps > 1) {
            const vector two = own;
            own += CF__PICK(second, own, 6, 7, 8, 9, 10, 11, 12, 13);
            second = two;
        }
        if constexpr (steps > 2) {
            const vector four = own;
            own += CF__PICK(third, own, 4, 5, 6, 7, 8, 9, 10, 11);
            third = four;
        }
        CF__UNROLL for (int behind = 1; behind < places; behind *= 2)
        {
            vector &kept = earlier[behind + (i / 8 & (behind - 1))], before = kept;
            kept = own;
            own += before;
        }
        place = own;
    }
}

/* Adds to each element the previous one, then the one two positions before it, then four, and so on. `has_zeros`: 0 is
 * added to an element that has no such predecessor. `before`: the number of first elements to which nothing is
 * added. */
template <cf__operation operation, int count, int steps, bool has_zeros, int before = 0, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_steps(T *values)
{
    if constexpr (cf__number<T>::is_whole && count - before <= 1 << steps && (before == 0 || operation == CF__SUM)) {
        T any = 0;
        for (int i = 0; i < before; i++)
            any |= values[i];
        if (!any) {
            cf__accumulate<operation, count - before>(values + before);
            return;
        }
    } else if constexpr (operation == CF__SUM && cf__eight<T>::cf__exists && before == 0 && count % 8 == 0) {
        cf__scan_vectors<count, steps, has_zeros>(values);
        return;
    }
    if constexpr (!cf__number<T>::is_whole || before > 0 || count > 1 << steps)
        for (int step = 0; step < steps; step++) {
            cf__add_before<operation, count>(values, 1 << step, before ? before : 1 << step);
            for (int i = 0; has_zeros && i < 1 << step && i < count; i++)
                values[i] = cf__combine<operation>(values[i], static_cast<T>(0));
        }
}

/* The loop that follows the loop of cf__scan_up(). If only the last element is accessed between the two, integers need
 * a single pass. With CF__BEFORE_SPREAD it leaves the final results. With CF__BEFORE_DOWN it leaves the final results
 * of all elements but the last one, whose result is in the first element. */
enum cf__next { CF__BEFORE_OTHERS, CF__BEFORE_DOWN, CF__BEFORE_SPREAD };

/* Adds the first element of each pair to the second one. Then does the same with the last elements of the two halves of
 * parts that are twice as long, and so on. */
template <cf__operation operation, int count, cf__next next = CF__BEFORE_OTHERS, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_up(T *values)
{
    if constexpr (cf__number<T>::is_whole && next != CF__BEFORE_OTHERS) {
        cf__accumulate<operation, count, next == CF__BEFORE_DOWN>(values);
        return;
    }
    int distance = 1;
    if constexpr (operation == CF__SUM && cf__eight<T>::cf__exists && count >= 8) {
        typedef typename cf__eight<T>::type vector;
        for (int i = 0; i < count; i += 8) {
            vector &place = *reinterpret_cast<vector *>(values + i), own = place, sum;
            sum = own + CF__PICK(own, own, 0, 0, 2, 2, 4, 4, 6, 6);
            own = CF__PICK(own, sum, 0, 9, 2, 11, 4, 13, 6, 15);
            sum = own + CF__PICK(own, own, 0, 1, 2, 1, 4, 5, 6, 5);
            own = CF__PICK(own, sum, 0, 1, 2, 11, 4, 5, 6, 15);
            sum = own + CF__PICK(own, own, 0, 1, 2, 3, 4, 5, 6, 3);
            place = CF__PICK(own, sum, 0, 1, 2, 3, 4, 5, 6, 15);
        }
        distance = 8;
    }
    for (; distance < count; distance *= 2)
        for (int i = 2 * distance - 1; i < count; i += 2 * distance)
            values[i] = cf__combine<operation>(values[i], values[i - distance]);
}

/* Computes the same sums, but leaves each of them in the first element of its part. */
template <cf__operation operation, int count, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_fold(T *values)
{
    int distance = 1;
    if constexpr (operation == CF__SUM && cf__eight<T>::cf__exists && count >= 8) {
        typedef typename cf__eight<T>::type vector;
        for (int i = 0; i < count; i += 8) {
            vector &place = *reinterpret_cast<vector *>(values + i), own = place, sum;
            sum = own + CF__PICK(own, own, 1, 1, 3, 3, 5, 5, 7, 7);
            own = CF__PICK(own, sum, 8, 1, 10, 3, 12, 5, 14, 7);
            sum = own + CF__PICK(own, own, 2, 1, 2, 3, 6, 5, 6, 7);
            own = CF__PICK(own, sum, 8, 1, 2, 3, 12, 5, 6, 7);
            sum = own + CF__PICK(own, own, 4, 1, 2, 3, 4, 5, 6, 7);
            place = CF__PICK(own, sum, 8, 1, 2, 3, 4, 5, 6, 7);
        }
        distance = 8;
    }
    for (; distance < count; distance *= 2)
        for (int i = 0; i < count; i += 2 * distance)
            values[i] = cf__combine<operation>(values[i], values[i + distance]);
}

/* In each part, the last element of the first half gets the last value of the part, and the last element of the part
 * gets the sum of both. Then does the same with parts of half the length, and so on. */
template <cf__operation operation, int count, bool is_behind_up = false, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_down(T *values)
{
    if constexpr (cf__number<T>::is_whole && is_behind_up) {
        const T value = values[count - 1];
        values[count - 1] = values[0];
        values[0] = 0;
        for (int i = 0; value && i < count; i++)
            values[i] = cf__combine<operation>(values[i], value);
        return;
    }
    constexpr bool has_vectors = operation == CF__SUM && cf__eight<T>::cf__exists && count >= 8;
    for (int distance = count / 2; distance >= (has_vectors ? 8 : 1); distance /= 2)
        for (int i = 2 * distance - 1; i < count; i += 2 * distance) {
            const T low = values[i - distance], high = values[i];
            values[i - distance] = high;
            values[i] = cf__combine<operation>(high, low);
        }
    if constexpr (has_vectors) {
        typedef typename cf__eight<T>::type vector;
        for (int i = 0; i < count; i += 8) {
            vector &place = *reinterpret_cast<vector *>(values + i), own = place, other, sum;
            other = CF__PICK(own, own, 0, 1, 2, 7, 4, 5, 6, 3);
            sum = own + other;
            own = CF__PICK(other, sum, 0, 1, 2, 3, 4, 5, 6, 15);
            other = CF__PICK(own, own, 0, 3, 2, 1, 4, 7, 6, 5);
            sum = own + other;
            own = CF__PICK(other, sum, 0, 1, 2, 11, 4, 5, 6, 15);
            other = CF__PICK(own, own, 1, 0, 3, 2, 5, 4, 7, 6);
            sum = own + other;
            place = CF__PICK(other, sum, 0, 9, 2, 11, 4, 13, 6, 15);
        }
    }
}

/* Adds the last element of each part to the middle element of the next part, from large parts to small ones. */
template <cf__operation operation, int count, bool is_behind_up = false, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_spread(T *values)
{
    if constexpr (cf__number<T>::is_whole && is_behind_up)
        return;
    constexpr bool has_vectors = operation == CF__SUM && cf__eight<T>::cf__exists && count >= 16;
    for (int distance = count / 4; distance >= (has_vectors ? 8 : 1); distance /= 2)
        for (int i = 3 * distance - 1; i < count; i += 2 * distance)
            values[i] = cf__combine<operation>(values[i], values[i - distance]);
    if constexpr (has_vectors) {
        typedef typename cf__eight<T>::type vector;
        const T none = cf__number<T>::is_whole ? static_cast<T>(0) : static_cast<T>(-0.0);
        vector last, own, sum;
        for (int i = 0; i < 8; i++)
            last[i] = none;
        for (int i = 0; i < count; i += 8) {
            vector &place = *reinterpret_cast<vector *>(values + i);
            const vector given = place, before = last;
            last = CF__PICK(given, given, 7, 7, 7, 7, 7, 7, 7, 7);
            sum = given + before;
            own = CF__PICK(given, sum, 0, 1, 2, 11, 4, 5, 6, 7);
            sum = own + CF__PICK(own, before, 8, 8, 8, 8, 3, 3, 3, 3);
            own = CF__PICK(own, sum, 0, 9, 2, 3, 4, 13, 6, 7);
            sum = own + CF__PICK(own, before, 8, 8, 1, 1, 3, 3, 5, 5);
            place = CF__PICK(own, sum, 8, 1, 10, 3, 12, 5, 14, 7);
        }
    }
}

/* Copies `count` elements, which are at most `most`. */
template <int most, typename T> static inline CF__INLINE void cf__copy(T *to, const T *from, int count)
{
    if (count >= most)
        __builtin_memcpy(to, from, most * sizeof(T));
    else
        __builtin_memcpy(to, from, count * sizeof(T));
}

/* Takes steps with the elements of an array. An unused element follows each group of 1 << shift elements. */
template <int count, int shift, typename T, typename Steps>
static inline CF__INLINE CF__OF_BLOCK void cf__without_gaps(T *values, Steps steps)
{
    constexpr int each = 1 << shift;
    alignas(32) T own[count];
    for (int i = 0; i < count; i += each)
        cf__copy<each>(own + i, values + i + (i >> shift), count - i);
    steps(own);
    for (int i = 0; i < count; i += each)
        cf__copy<each>(values + i + (i >> shift), own + i, count - i);
}

#endif
