/* operators.cuh - shifts and integer divisions, with a GPU's results where C++ leaves them undefined.
 *
 * The generator turns `a / b` into `a / cf__over / b`: operators of one precedence, from left to right, so that the
 * operands stay what they are. `a / cf__over` keeps its operand, and the second operator divides. Likewise
 * `a /= cf__over = b`. */
#ifndef CUFERRY_CPU_OPERATORS_CUH
#define CUFERRY_CPU_OPERATORS_CUH

#include <limits.h>

#include <type_traits>
#include <utility>

#include <cuferry/cpu/types/convert.cuh>
#include <cuferry/cpu/words.cuh>

/* ---- Results ---- */

#if defined CF__CHECKED_UNDEFINED /* a sanitizer reports what C++ leaves undefined */

template <typename T, typename Count> CF__FN CF__INLINE constexpr T cf__shift_left(T x, Count count)
{
    return x << count;
}

template <typename T, typename Count> CF__FN CF__INLINE constexpr T cf__shift_right(T x, Count count)
{
    return x >> count;
}

template <bool is_short, typename T> CF__FN CF__INLINE constexpr T cf__quotient(T x, T y)
{
    return x / y;
}

template <bool is_short, typename T> CF__FN CF__INLINE constexpr T cf__remainder(T x, T y)
{
    return x % y;
}

#else

/* The low 32 bits of the count count. From the width on, all bits are gone, and those of the sign stay. */
template <typename T, typename Count> CF__FN CF__INLINE constexpr T cf__shift_left(T x, Count count)
{
    typedef std::make_unsigned_t<T> bits;
    const unsigned int by = (unsigned int)count, width = CHAR_BIT * sizeof(T);
    return by < width ? (T)((bits)x << (by & (width - 1))) : (T)0;
}

template <typename T, typename Count> CF__FN CF__INLINE constexpr T cf__shift_right(T x, Count count)
{
    const unsigned int by = (unsigned int)count, width = CHAR_BIT * sizeof(T);
    if constexpr (std::is_signed<T>::value)
        return x >> (by < width ? by : width - 1);
    else
        return by < width ? (T)(x >> (by & (width - 1))) : (T)0;
}

/* Returns nvcc's result of a division by 0, as quotient and as remainder: all bits, of 32 for an unsigned dividend
 * of 32 bits that has 64, of 16 for two unsigned operands of up to 16. */
template <bool is_short, typename T> CF__FN CF__INLINE constexpr T cf__by_zero(T x)
{
    if constexpr (is_short)
        return (T)USHRT_MAX;
    else if constexpr (sizeof(T) == 8)
        return (unsigned long long)x >> 32 ? (T)-1 : (T)UINT_MAX;
    else
        return (T)-1;
}

template <bool is_short, typename T> CF__FN CF__INLINE constexpr T cf__quotient(T x, T y)
{
    if constexpr (std::is_signed<T>::value) {
        if (y == -1)
            return (T)(0 - (std::make_unsigned_t<T>)x);
    }
    return y == 0 ? cf__by_zero<is_short>(x) : (T)(x / y);
}

template <bool is_short, typename T> CF__FN CF__INLINE constexpr T cf__remainder(T x, T y)
{
    if constexpr (std::is_signed<T>::value) {
        if (y == -1)
            return 0;
    }
    return y == 0 ? cf__by_zero<is_short>(x) : (T)(x % y);
}

#endif

/* ---- Operators ---- */

template <typename T> struct cf__is_narrow {
    static constexpr bool value = std::is_unsigned<T>::value && sizeof(T) < sizeof(int);
};

/* Integers and enumerations that count as such: those that operators promote. */
template <typename T> struct cf__is_whole_number {
    static constexpr bool value = (std::is_integral<T>::value && sizeof(T) <= 8) ||
                                  (std::is_enum<T>::value && std::is_convertible<T, long long>::value);
};

template <typename T> using cf__if_number = std::enable_if_t<!std::is_class<std::remove_reference_t<T>>::value, int>;
template <typename T> using cf__if_object = std::enable_if_t<std::is_class<std::remove_reference_t<T>>::value, int>;

/* A class decides by what reference its operators take either operand. */
template <typename X, typename Y>
using cf__if_class_operator = std::enable_if_t<
    std::is_class<std::remove_reference_t<X>>::value || std::is_class<std::remove_reference_t<Y>>::value, int>;

/* An operand: numbers by value, because bit-fields have no references; objects as they are. */
template <typename Tag, typename T> struct cf__held {
    T cf__value;
};

template <typename Tag> struct cf__holder {
    template <typename T, cf__if_number<T> = 0> CF__INLINE constexpr cf__held<Tag, T> operator=(T value) const
    {
        return {value};
    }

    template <typename T, cf__if_object<T> = 0> CF__INLINE constexpr cf__held<Tag, T &&> operator=(T &&value) const
    {
        return {static_cast<T &&>(value)};
    }
};

/* The value of X op Y, for numbers and for objects. */
#define CF__OPERATOR(name, op, of_whole_numbers)                                                           \
    struct name##_type : cf__holder<name##_type> {                                                         \
        using cf__holder<name##_type>::operator=;                                                          \
    };                                                                                                     \
    template <typename X, typename Y> CF__FN CF__INLINE constexpr decltype(auto) name##_of(X &&x, Y &&y)   \
    {                                                                                                      \
        typedef std::decay_t<X> A;                                                                         \
        typedef std::decay_t<Y> B;                                                                         \
        if constexpr (cf__is_whole_number<A>::value && cf__is_whole_number<B>::value) {                    \
            typedef decltype(std::declval<A>() op std::declval<B>()) Result;                               \
            [[maybe_unused]] constexpr bool is_short = cf__is_narrow<A>::value && cf__is_narrow<B>::value; \
            return of_whole_numbers;                                                                       \
        } else {                                                                                           \
            return static_cast<X &&>(x) op static_cast<Y &&>(y);                                           \
        }                                                                                                  \
    }                                                                                                      \
    template <typename T, cf__if_number<T> = 0>                                                            \
    CF__FN CF__INLINE constexpr cf__held<name##_type, T> operator op(T value, name##_type &&)              \
    {                                                                                                      \
        return {value};                                                                                    \
    }                                                                                                      \
    template <typename T, cf__if_object<T> = 0>                                                            \
    CF__FN CF__INLINE constexpr cf__held<name##_type, T &&> operator op(T &&value, name##_type &&)         \
    {                                                                                                      \
        return {static_cast<T &&>(value)};                                                                 \
    }                                                                                                      \
    template <typename X, typename Y, cf__if_number<X> = 0, cf__if_number<Y> = 0>                          \
    CF__FN CF__INLINE constexpr decltype(auto) operator op(cf__held<name##_type, X> x, Y y)                \
    {                                                                                                      \
        return name##_of(static_cast<X &&>(x.cf__value), y);                                               \
    }                                                                                                      \
    template <typename X, typename Y, cf__if_class_operator<X, Y> = 0>                                     \
    CF__FN CF__INLINE constexpr decltype(auto) operator op(cf__held<name##_type, X> x, Y &&y)              \
    {                                                                                                      \
        return name##_of(static_cast<X &&>(x.cf__value), static_cast<Y &&>(y));                            \
    }                                                                                                      \
    template <typename X, typename Y>                                                                      \
    CF__FN CF__INLINE constexpr decltype(auto) operator op##=(X &variable, cf__held<name##_type, Y> y)     \
    {                                                                                                      \
        typedef std::remove_cv_t<X> T;                                                                     \
        if constexpr (cf__is_integer<X>::value && std::is_arithmetic<std::decay_t<Y>>::value)              \
            return (variable = cf__convert<T>(name##_of((T)variable, y.cf__value)));                       \
        else                                                                                               \
            return (variable op## = static_cast<Y &&>(y.cf__value));                                       \
    }
CF__OPERATOR(cf__over, /, (cf__quotient<is_short, Result>((Result)x, (Result)y)))
CF__OPERATOR(cf__modulo, %, (cf__remainder<is_short, Result>((Result)x, (Result)y)))
CF__OPERATOR(cf__left, <<, (cf__shift_left<Result>((Result)x, y)))
CF__OPERATOR(cf__right, >>, (cf__shift_right<Result>((Result)x, y)))
#undef CF__OPERATOR

/* Temporary objects: a class's template for any `const T &` or `T &` fits them less than the operators above. */
#define cf__over cf__over_type()
#define cf__modulo cf__modulo_type()
#define cf__left cf__left_type()
#define cf__right cf__right_type()

#endif
