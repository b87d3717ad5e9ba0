/* operators.cuh - shifts and integer divisions, with a GPU's results where C++ leaves them undefined.
 *
 * The generator turns `a / b` into `a * cf__over / b`. Both operators have the same precedence and associate from left
 * to right, so the operands stay the same. `a * cf__over` wraps its operand, and the second operator divides. In the
 * same way, `a /= b` becomes `a ->* cf__over /= b`. Operators of classes and enumerations get their operands
 * unchanged. */
#ifndef CUFERRY_CPU_OPERATORS_CUH
#define CUFERRY_CPU_OPERATORS_CUH

#include <limits.h>

#include <type_traits>
#include <utility>

#include <cuferry/cpu/types/convert.cuh>
#include <cuferry/cpu/words.cuh>

/* ---- Results ---- */

#if defined CF__CHECKED_UNDEFINED /* a sanitizer reports behaviour that C++ leaves undefined */

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

/* Shifts by the count's low 32 bits. A count that is not less than the width leaves only copies of the sign. */
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

/* Returns nvcc's quotient and remainder of a division by 0: all bits set. Only 32 bits are set for a 64-bit unsigned
 * dividend whose value fits 32 bits, and only 16 for two unsigned operands of up to 16 bits. */
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
    /* A division takes tens of cycles, and prevents the vectorization of `if (thread % (2 * step) == 0)`, so powers of
     * two are handled separately. */
    if (!__builtin_constant_p(y) && x >= 0 && y > 0 && (y & (y - 1)) == 0)
        return (T)(x & (y - 1));
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

template <typename T> struct cf__is_object {
    typedef std::remove_reference_t<T> plain;
    static constexpr bool value = std::is_class<plain>::value || std::is_union<plain>::value;
};

template <typename T> using cf__if_number = std::enable_if_t<!cf__is_object<T>::value, int>;

/* A class's own operator decides by which kind of reference it takes each operand. */
template <typename X, typename Y>
using cf__if_class_operator = std::enable_if_t<cf__is_object<X>::value || cf__is_object<Y>::value, int>;

/* Holds the left operand of an operator: an object by reference, and a number by value unless `keeps`, because no
 * reference can be bound to a bit-field. */
template <typename Tag, typename T> struct cf__held {
    T cf__value;
};

/* Assigns a value and returns the variable, or the number for a volatile variable, because compilers warn about a
 * volatile variable whose value is not used. */
template <typename T, typename Value> CF__FN CF__INLINE constexpr decltype(auto) cf__assign(T &variable, Value value)
{
    if constexpr (std::is_volatile<T>::value) {
        variable = value;
        return value;
    } else {
        return (variable = value);
    }
}

/* Returns the count of a shift as a number. The count may be an object that converts to a number. */
template <typename T> CF__FN CF__INLINE constexpr auto cf__count_of(T &&count)
{
    if constexpr (cf__is_object<T>::value)
        return static_cast<long long>(static_cast<T &&>(count));
    else
        return count;
}

/* Defines a template that tells if an operator takes operands of types X and Y. */
#define CF__DETECTOR(name, expression)                                                                        \
    template <typename X, typename Y, typename = void> struct name : std::false_type {                        \
    };                                                                                                        \
    template <typename X, typename Y> struct name<X, Y, std::void_t<decltype(expression)>> : std::true_type { \
    };

/* A type that converts to an enumeration or a number, but not to an object. */
template <typename T> using cf__as = cf__only<std::decay_t<T>>;

/* X op Y, for numbers and for objects. The built-in operator of enumerations is noexcept, and C++ prefers it to an
 * operator that would convert an enumeration to an object. An object without an operator converts to a number. */
#define CF__OPERATOR(name, op, first, of_whole_numbers)                                                               \
    template <bool keeps> struct name##_type {                                                                        \
    };                                                                                                                \
    struct name##_operand {                                                                                           \
    };                                                                                                                \
    struct name##_variable {                                                                                          \
    };                                                                                                                \
    CF__DETECTOR(name##_member, std::declval<X>().operator op(std::declval<Y>()))                                     \
    CF__DETECTOR(name##_function, operator op(std::declval<X>(), std::declval<Y>()))                                  \
    CF__DETECTOR(name##_member_update, std::declval<X>().operator op##=(std::declval<Y>()))                           \
    CF__DETECTOR(name##_function_update, operator op##=(std::declval<X>(), std::declval<Y>()))                        \
    template <typename X, typename Y> CF__FN CF__INLINE constexpr bool name##_is_own()                                \
    {                                                                                                                 \
        if constexpr (std::is_arithmetic<std::decay_t<X>>::value && std::is_arithmetic<std::decay_t<Y>>::value)       \
            return false;                                                                                             \
        else if constexpr (cf__is_object<X>::value || cf__is_object<Y>::value)                                        \
            return name##_member<X, Y>::value || name##_function<X, Y>::value;                                        \
        else                                                                                                          \
            return !noexcept(std::declval<X>() op std::declval<Y>()) || name##_function<cf__as<X>, cf__as<Y>>::value; \
    }                                                                                                                 \
    template <typename X, typename Y> CF__FN CF__INLINE constexpr bool name##_is_own_update()                         \
    {                                                                                                                 \
        if constexpr (std::is_arithmetic<X>::value && std::is_arithmetic<std::decay_t<Y>>::value)                     \
            return false;                                                                                             \
        else if constexpr (cf__is_object<X>::value || cf__is_object<Y>::value)                                        \
            return name##_member_update<X &, Y>::value || name##_function_update<X &, Y>::value ||                    \
                   name##_is_own<X &, Y>();                                                                           \
        else                                                                                                          \
            return !noexcept(std::declval<X &>() op## = std::declval<Y>()) ||                                         \
                   name##_function_update<X &, cf__as<Y>>::value;                                                     \
    }                                                                                                                 \
    template <typename X, typename Y> CF__FN CF__INLINE constexpr decltype(auto) name##_of(X &&x, Y &&y)              \
    {                                                                                                                 \
        if constexpr (!name##_is_own<X, Y>()) {                                                                       \
            typedef std::decay_t<decltype(std::declval<X>() op std::declval<Y>())> Result;                            \
            [[maybe_unused]] constexpr bool is_short =                                                                \
                cf__is_narrow<std::decay_t<X>>::value && cf__is_narrow<std::decay_t<Y>>::value;                       \
            if constexpr (cf__is_integer<Result>::value)                                                              \
                return of_whole_numbers;                                                                              \
            else                                                                                                      \
                return static_cast<X &&>(x) op static_cast<Y &&>(y);                                                  \
        } else {                                                                                                      \
            return static_cast<X &&>(x) op static_cast<Y &&>(y);                                                      \
        }                                                                                                             \
    }                                                                                                                 \
    template <typename T, cf__if_number<T> = 0>                                                                       \
    CF__FN CF__INLINE constexpr cf__held<name##_operand, T> operator first(T value, name##_type<false> &&)            \
    {                                                                                                                 \
        return {value};                                                                                               \
    }                                                                                                                 \
    template <bool keeps, typename T, std::enable_if_t<keeps || cf__is_object<T>::value, int> = 0>                    \
    CF__FN CF__INLINE constexpr cf__held<name##_operand, T &&> operator first(T &&value, name##_type<keeps> &&)       \
    {                                                                                                                 \
        return {static_cast<T &&>(value)};                                                                            \
    }                                                                                                                 \
    template <typename X, typename Y, cf__if_number<X> = 0, cf__if_number<Y> = 0>                                     \
    CF__FN CF__INLINE constexpr decltype(auto) operator op(cf__held<name##_operand, X> x, Y y)                        \
    {                                                                                                                 \
        return name##_of(static_cast<X &&>(x.cf__value), y);                                                          \
    }                                                                                                                 \
    template <typename X, typename Y, cf__if_class_operator<X, Y> = 0>                                                \
    CF__FN CF__INLINE constexpr decltype(auto) operator op(cf__held<name##_operand, X> x, Y &&y)                      \
    {                                                                                                                 \
        return name##_of(static_cast<X &&>(x.cf__value), static_cast<Y &&>(y));                                       \
    }                                                                                                                 \
    template <typename X, typename Y> CF__FN CF__INLINE constexpr decltype(auto) name##_update(X &x, Y &&y)           \
    {                                                                                                                 \
        if constexpr (name##_is_own_update<X, Y>()) {                                                                 \
            return (x op## = static_cast<Y &&>(y));                                                                   \
        } else {                                                                                                      \
            typedef decltype(std::declval<X &>() op## = std::declval<Y>()) Target;                                    \
            typedef std::decay_t<Target> T;                                                                           \
            if constexpr (std::is_integral<T>::value && sizeof(T) <= sizeof(long long)) {                             \
                Target target = x;                                                                                    \
                if constexpr (cf__is_integer<T>::value)                                                               \
                    return cf__assign(target, cf__convert<T>(name##_of((T)target, static_cast<Y &&>(y))));            \
                else                                                                                                  \
                    return cf__assign(target, (T)name##_of((T)target, static_cast<Y &&>(y)));                         \
            } else if constexpr (std::is_arithmetic<T>::value) {                                                      \
                Target target = x;                                                                                    \
                return cf__assign(target, (T)(target op static_cast<Y &&>(y)));                                       \
            } else {                                                                                                  \
                return (x op## = static_cast<Y &&>(y));                                                               \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    template <bool keeps, typename T>                                                                                 \
    CF__FN CF__INLINE constexpr cf__held<name##_variable, T &> operator->*(T &variable, name##_type<keeps> &&)        \
    {                                                                                                                 \
        return {variable};                                                                                            \
    }                                                                                                                 \
    template <typename X, typename Y, cf__if_number<X> = 0, cf__if_number<Y> = 0>                                     \
    CF__FN CF__INLINE constexpr decltype(auto) operator op##=(cf__held<name##_variable, X> x, Y y)                    \
    {                                                                                                                 \
        return name##_update(x.cf__value, y);                                                                         \
    }                                                                                                                 \
    template <typename X, typename Y, cf__if_class_operator<X, Y> = 0>                                                \
    CF__FN CF__INLINE constexpr decltype(auto) operator op##=(cf__held<name##_variable, X> x, Y &&y)                  \
    {                                                                                                                 \
        return name##_update(x.cf__value, static_cast<Y &&>(y));                                                      \
    }
CF__OPERATOR(cf__over, /, *, (cf__quotient<is_short, Result>((Result)x, (Result)y)))
CF__OPERATOR(cf__modulo, %, *, (cf__remainder<is_short, Result>((Result)x, (Result)y)))
CF__OPERATOR(cf__left, <<, >>, (cf__shift_left<Result>((Result)x, cf__count_of(y))))
CF__OPERATOR(cf__right, >>, <<, (cf__shift_right<Result>((Result)x, cf__count_of(y))))
#undef CF__OPERATOR
#undef CF__DETECTOR

/* These tags are temporary objects, so that the operators above match better than an operator of a class that takes any
 * `const T &` or `T &`. */
#define cf__over cf__over_type<false>()
#define cf__modulo cf__modulo_type<false>()
#define cf__left cf__left_type<false>()
#define cf__right cf__right_type<false>()
/* These tags are for files with operators that change a number on their left. */
#define cf__over_kept cf__over_type<true>()
#define cf__modulo_kept cf__modulo_type<true>()
#define cf__left_kept cf__left_type<true>()
#define cf__right_kept cf__right_type<true>()

/* ---- Objects ---- */

/* Returns one of two objects. A small object is copied instead of chosen by address, so that compilers can keep its
 * members in registers. */
template <typename T> CF__FN CF__INLINE constexpr T cf__choose(bool is_first, const T &first, const T &second)
{
    if constexpr (__is_trivially_copyable(T) && sizeof(T) <= 64) {
        T chosen = first;
        if (!is_first)
            chosen = second;
        return chosen;
    } else {
        return is_first ? first : second;
    }
}

#endif
