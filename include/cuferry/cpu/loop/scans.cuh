/* scans.cuh - loops in whose steps the threads of a block add elements of an array; see gen/cpu/scans.py.
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

/* True if operations of elements and of values of other types are all operations of one type of numbers. `has_reals`:
 * there are constants with a fraction, to whose type whole numbers would be converted. */
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

/* Vectors of eight elements at any address, for sums; `type` is a number where there are none. */
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

/* Replaces each element by the sum of those up to it. */
template <cf__operation operation, int count, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__accumulate(T *values)
{
    int done = 1;
    if constexpr (operation == CF__SUM && cf__eight<T>::cf__exists && count >= 8) {
        typedef typename cf__eight<T>::type vector;
        vector before = {}, none = {};
        for (done = 0; done + 8 <= count; done += 8) {
            vector &place = *reinterpret_cast<vector *>(values + done), own = place;
            own += CF__PICK(own, none, 8, 0, 1, 2, 3, 4, 5, 6);
            own += CF__PICK(own, none, 8, 8, 0, 1, 2, 3, 4, 5);
            own += CF__PICK(own, none, 8, 8, 8, 8, 0, 1, 2, 3);
            place = own + before;
            before += CF__PICK(own, own, 7, 7, 7, 7, 7, 7, 7, 7);
        }
    }
    for (T sum = values[done - 1]; done < count; done++)
        values[done] = sum = cf__combine<operation>(sum, values[done]);
}

/* Adds to each element the one at a distance before it. */
template <cf__operation operation, int count, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__add_before(T *values, int distance)
{
    int end = count;
    if constexpr (operation == CF__SUM && cf__eight<T>::cf__exists)
        for (typedef typename cf__eight<T>::type vector; end - 8 >= distance; end -= 8)
            *reinterpret_cast<vector *>(values + end - 8) += *reinterpret_cast<vector *>(values + end - 8 - distance);
    while (--end >= distance)
        values[end] = cf__combine<operation>(values[end], values[end - distance]);
}

/* Adds to each element the one before it, then the one two places before it, and so on. `has_zeros`: elements without
 * one get 0 added. */
template <cf__operation operation, int count, int steps, bool has_zeros, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_steps(T *values)
{
    if constexpr (cf__number<T>::is_whole && count <= 1 << steps) {
        cf__accumulate<operation, count>(values);
    } else {
        for (int step = 0; step < steps; step++) {
            cf__add_before<operation, count>(values, 1 << step);
            for (int i = 0; has_zeros && i < 1 << step && i < count; i++)
                values[i] = cf__combine<operation>(values[i], static_cast<T>(0));
        }
    }
}

/* Adds to the last element of each two that of the first one, then likewise with parts of twice the length. */
template <cf__operation operation, int count, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_up(T *values)
{
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

/* Moves the last element of each part to the end of its first half, and leaves there the sum of both; then likewise with
 * parts of half the length. */
template <cf__operation operation, int count, typename T>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_down(T *values)
{
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

#endif
