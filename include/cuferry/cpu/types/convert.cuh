/* convert.cuh - conversions from floats to integers, with a GPU's results where C++ leaves them undefined. */
#ifndef CUFERRY_CPU_CONVERT_CUH
#define CUFERRY_CPU_CONVERT_CUH

#include <float.h>
#include <limits.h>

#include <type_traits>

#include <cuferry/cpu/words.cuh>

/* Truncates x. A value out of range gives the nearest integer in range. NaN gives 0, or the top bit alone if one of the
 * types has 64 bits. The code has no branches, so that loops can be vectorized. */
template <typename Integer, typename Float> CF__FN CF__INLINE constexpr Integer cf__saturate(Float x)
{
    constexpr bool is_signed = (Integer)-1 < (Integer)1, is_wide = sizeof(Integer) == 8 || sizeof(Float) == 8;
    constexpr unsigned long long top = 1ull << (CHAR_BIT * sizeof(Integer) - 1);
    constexpr Integer highest = (Integer)(is_signed ? top - 1 : top - 1 + top);
    constexpr Integer of_nan = is_wide ? (Integer)top : (Integer)0;
    constexpr Float limit = (Float)top * (is_signed ? 1 : 2), least = is_signed ? -(Float)top : (Float)0;
    constexpr Float below = limit - limit * (sizeof(Float) == 8 ? (Float)DBL_EPSILON : (Float)FLT_EPSILON) / 2;
    const Float from_above = x < below ? x : below;
    const Integer whole = (Integer)(from_above > least ? from_above : least);
    const Integer result = (Integer)below != highest && x >= limit ? highest : whole;
    return x != x ? of_nan : result;
}

/* Converts x as nvcc's casts do: integers of 8 and 16 bits get the low bits of a conversion to 32 bits. */
template <typename Integer, typename Float> CF__FN CF__INLINE constexpr Integer cf__truncate(Float x)
{
#if defined CF__CHECKED_UNDEFINED /* the sanitizer reports behaviour that C++ leaves undefined */
    return (Integer)x;
#endif
    typedef std::conditional_t<((Integer)-1 < (Integer)1), int, unsigned int> small;
    return (Integer)cf__saturate<std::conditional_t<(sizeof(Integer) < sizeof(int)), small, Integer>>(x);
}

/* Converts x to an integer as a GPU's cast does. */
template <typename Integer, typename From> CF__FN CF__INLINE constexpr Integer cf__convert(From &&x)
{
    typedef std::decay_t<From> plain;
    if constexpr (std::is_same<plain, float>::value || std::is_same<plain, double>::value)
        return cf__truncate<Integer>(x);
    else
        return (Integer) static_cast<From &&>(x);
}

/* Converts to an integer any value that a cast to an integer accepts. Numbers are passed by value, because no reference
 * can bind to a bit-field. */
template <typename Integer> struct cf__integer_of {
    Integer cf__value;

    template <typename From, std::enable_if_t<!std::is_class<From>::value, int> = 0>
    CF__INLINE constexpr cf__integer_of(From from) : cf__value(cf__convert<Integer>(from))
    {
    }

    template <typename From, std::enable_if_t<std::is_class<std::remove_reference_t<From>>::value, int> = 0>
    CF__INLINE constexpr cf__integer_of(From &&from) : cf__value(cf__convert<Integer>(static_cast<From &&>(from)))
    {
    }

    CF__INLINE constexpr operator Integer() const
    {
        return cf__value;
    }
};

template <typename T>
using cf__is_integer =
    std::integral_constant<bool, std::is_integral<T>::value && !std::is_same<std::remove_cv_t<T>, bool>::value &&
                                     sizeof(T) <= 8>;

/* The conversion in (T)(cf__to<T>)x, which the generator writes for (T)x, whatever type T is. */
template <typename T, bool is_integer = cf__is_integer<T>::value> struct cf__way_to {
    typedef T type;
};

template <typename T> struct cf__way_to<T, true> {
    typedef cf__integer_of<std::remove_cv_t<T>> type;
};

template <typename T> using cf__to = typename cf__way_to<T>::type;

template <typename Float> struct cf__only {
    operator Float() const;
};

/* True for classes that have no operator= for numbers and are assigned from a float through a constructor. */
template <typename To, typename Float>
using cf__is_made_of = std::integral_constant<bool, std::is_class<To>::value && std::is_convertible<Float, To>::value &&
                                                        !std::is_assignable<To &, cf__only<Float>>::value>;

/* A float that converts to integers as on a GPU. An assigned variable of another type gets the usual conversion.
 * */
template <typename Float> struct cf__soft {
    Float cf__value;

    template <typename To, std::enable_if_t<cf__is_made_of<To, Float>::value, long> = 0>
    CF__INLINE constexpr operator To() const
    {
        return cf__value;
    }

    template <typename To, std::enable_if_t<std::is_arithmetic<To>::value, int> = 0>
    CF__INLINE constexpr operator To() const
    {
        if constexpr (cf__is_integer<To>::value)
            return cf__truncate<To>(cf__value);
        else
            return (To)cf__value;
    }
};

/* The generator writes `cf__set =` before values that become integers, for example `i = cf__set = x`. */
struct cf__set_type {
    template <typename T, std::enable_if_t<!std::is_class<T>::value, int> = 0>
    CF__INLINE constexpr auto operator=(T value) const
    {
        if constexpr (std::is_same<T, float>::value || std::is_same<T, double>::value)
            return cf__soft<T>{value};
        else
            return value;
    }

    template <typename T, std::enable_if_t<std::is_class<std::remove_reference_t<T>>::value, int> = 0>
    CF__INLINE constexpr T &&operator=(T &&value) const
    {
        return static_cast<T &&>(value);
    }
};

constexpr cf__set_type cf__set{};

/* Defines operators such as i += x, which compute in float and convert the result to an integer. */
#define CF__UPDATE(op)                                                                      \
    template <typename T, typename Float>                                                   \
    CF__FN CF__INLINE constexpr T &operator op##=(T &variable, const cf__soft<Float> value) \
    {                                                                                       \
        const auto result = variable op value.cf__value;                                    \
        return variable = cf__soft<std::remove_const_t<decltype(result)>>{result};          \
    }
CF__UPDATE(+)
CF__UPDATE(-)
CF__UPDATE(*)
#undef CF__UPDATE

#endif
