/* math.cuh - mathematical functions of CUDA that the C library lacks, and float functions under the plain names. */
#ifndef CUFERRY_CPU_MATH_CUH
#define CUFERRY_CPU_MATH_CUH

#include <math.h>
#include <stdlib.h>

#include <cmath>
#include <type_traits>

#include <cuferry/cpu/types/convert.cuh>
#include <cuferry/cpu/words.cuh>

#include "casts.cuh"

/* ---- Smaller and larger ---- */

/* The bits of both operands, of which one has the result's sign if they are equal: the zeros. Other values stay: the
 * bits of a come in only if is_equal. */
template <typename Bits, typename T> CF__FN CF__INLINE T cf__with_sign(T value, T a, bool is_equal, bool is_either)
{
    const Bits bits = cf__cast<Bits>(value), others = cf__cast<Bits>(a), all = is_equal ? ~(Bits)0 : 0;
    return cf__cast<T>(is_either ? bits | (others & all) : bits & (others | ~all));
}

/* As on a GPU, a NaN is ignored, and -0 is less than 0. */
#define CF__FLOAT_MIN_MAX(T, Bits)                                               \
    CF__FN CF__INLINE T cf__fmin(T a, T b)                                       \
    {                                                                            \
        const T other = b != b ? a : b;                                          \
        return cf__with_sign<Bits>(a < other ? a : other, a, a == other, true);  \
    }                                                                            \
    CF__FN CF__INLINE T cf__fmax(T a, T b)                                       \
    {                                                                            \
        const T other = b != b ? a : b;                                          \
        return cf__with_sign<Bits>(a > other ? a : other, a, a == other, false); \
    }
CF__FLOAT_MIN_MAX(float, unsigned int)
CF__FLOAT_MIN_MAX(double, unsigned long long)
#undef CF__FLOAT_MIN_MAX

/* fmin() and fmax() of other types convert as in C. */
#define CF__PROMOTED(name)                                                                            \
    template <typename A, typename B,                                                                 \
              std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value &&        \
                                   !(std::is_same<A, float>::value && std::is_same<B, float>::value), \
                               int> = 0>                                                              \
    CF__FN CF__INLINE double name(A a, B b)                                                           \
    {                                                                                                 \
        return name((double)a, (double)b);                                                            \
    }
CF__PROMOTED(cf__fmin)
CF__PROMOTED(cf__fmax)
#undef CF__PROMOTED

/* The C library does not order zeros. Macros, because its functions have these names. */
#define fmin(...) cf__fmin(__VA_ARGS__)
#define fmax(...) cf__fmax(__VA_ARGS__)
#define fminf(...) cf__fminf(__VA_ARGS__)
#define fmaxf(...) cf__fmaxf(__VA_ARGS__)
CF__FN CF__INLINE float cf__fminf(float a, float b)
{
    return cf__fmin(a, b);
}

CF__FN CF__INLINE float cf__fmaxf(float a, float b)
{
    return cf__fmax(a, b);
}

/* Rounds to an integer of 64 bits, which a value out of range ends. */
#define CF__ROUND(name, Integer, round)                                                 \
    template <typename T> CF__FN CF__INLINE Integer name(T x)                           \
    {                                                                                   \
        typedef std::conditional_t<std::is_same<T, float>::value, float, double> Float; \
        return cf__saturate<Integer>((Float)round((Float)x));                           \
    }
CF__ROUND(cf__lrint, long, __builtin_rint)
CF__ROUND(cf__llrint, long long, __builtin_rint)
CF__ROUND(cf__lround, long, __builtin_round)
CF__ROUND(cf__llround, long long, __builtin_round)
#undef CF__ROUND
#define lrint(...) cf__lrint(__VA_ARGS__)
#define llrint(...) cf__llrint(__VA_ARGS__)
#define lround(...) cf__lround(__VA_ARGS__)
#define llround(...) cf__llround(__VA_ARGS__)
#define lrintf(x) cf__lrint((float)(x))
#define llrintf(x) cf__llrint((float)(x))
#define lroundf(x) cf__lround((float)(x))
#define llroundf(x) cf__llround((float)(x))

namespace std
{
using ::cf__fmax;
using ::cf__fmaxf;
using ::cf__fmin;
using ::cf__fminf;
using ::cf__llrint;
using ::cf__llround;
using ::cf__lrint;
using ::cf__lround;
} // namespace std

/* min() and max() of two types, converted as in C. */
#define CF__MIN_MAX(A, B, T)              \
    CF__FN T min(A a, B b)                \
    {                                     \
        return (T)a < (T)b ? (T)a : (T)b; \
    }                                     \
    CF__FN T max(A a, B b)                \
    {                                     \
        return (T)b < (T)a ? (T)a : (T)b; \
    }
#define CF__MIN_MAX_FLOATS(A, B, T)  \
    CF__FN T min(A a, B b)           \
    {                                \
        return cf__fmin((T)a, (T)b); \
    }                                \
    CF__FN T max(A a, B b)           \
    {                                \
        return cf__fmax((T)a, (T)b); \
    }
#define CF__MIN_MAX_SIGNS(T)                        \
    CF__MIN_MAX(T, T, T)                            \
    CF__MIN_MAX(unsigned T, unsigned T, unsigned T) \
    CF__MIN_MAX(T, unsigned T, unsigned T)          \
    CF__MIN_MAX(unsigned T, T, unsigned T)
CF__MIN_MAX_SIGNS(int)
CF__MIN_MAX_SIGNS(long)
CF__MIN_MAX_SIGNS(long long)
CF__MIN_MAX_FLOATS(float, float, float)
CF__MIN_MAX_FLOATS(double, double, double)
CF__MIN_MAX_FLOATS(float, double, double)
CF__MIN_MAX_FLOATS(double, float, double)
#undef CF__MIN_MAX_SIGNS
#undef CF__MIN_MAX
#undef CF__MIN_MAX_FLOATS

CF__FN unsigned int umin(unsigned int a, unsigned int b)
{
    return min(a, b);
}

CF__FN unsigned int umax(unsigned int a, unsigned int b)
{
    return max(a, b);
}

CF__FN long long llmin(long long a, long long b)
{
    return min(a, b);
}

CF__FN long long llmax(long long a, long long b)
{
    return max(a, b);
}

CF__FN unsigned long long ullmin(unsigned long long a, unsigned long long b)
{
    return min(a, b);
}

CF__FN unsigned long long ullmax(unsigned long long a, unsigned long long b)
{
    return max(a, b);
}

/* ---- Roots and angles ----
 *
 * Templates, because newer C libraries have functions of these names, which then take precedence. */

template <typename T> struct cf__real {
    typedef double type;
};

template <> struct cf__real<float> {
    typedef float type;
};

#define CF__MATH(name, value)                                         \
    template <typename A> CF__FN typename cf__real<A>::type name(A a) \
    {                                                                 \
        typedef typename cf__real<A>::type T;                         \
        const T x = (T)a;                                             \
        return value;                                                 \
    }                                                                 \
    template <typename A> CF__FN float name##f(A a)                   \
    {                                                                 \
        return name((float)a);                                        \
    }
CF__MATH(rsqrt, (T)1 / sqrt(x))
CF__MATH(rcbrt, (T)1 / cbrt(x))

/* The sine and the cosine of pi times x, exact if they are 0 or 1: x is reduced to [-1/4, 1/4] and quarter turns. */
template <typename T> CF__FN T cf__turn(T x, int shift)
{
    const T pi = (T)3.14159265358979323846;
    const T quarters = rint(2 * x), rest = (x - quarters / 2) * pi;
    const int quarter = (int)(quarters - 4 * floor(quarters / 4)) + shift;
    const T value = quarter & 1 ? cos(rest) : sin(rest);
    return quarter & 2 ? -value : value;
}
CF__MATH(sinpi, x - x != 0 ? x - x : x == rint(x) ? copysign((T)0, x) : cf__turn(x, 0))
CF__MATH(cospi, x - x != 0 ? x - x : cf__turn(x, 1) + (T)0) /* 0, not -0 */
#undef CF__MATH

CF__FN void sincospi(double x, double *sine, double *cosine)
{
    *sine = sinpi(x);
    *cosine = cospi(x);
}

CF__FN void sincospif(float x, float *sine, float *cosine)
{
    *sine = sinpi(x);
    *cosine = cospi(x);
}

CF__FN void sincospi(float x, float *sine, float *cosine)
{
    sincospif(x, sine, cosine);
}

/* ---- Lengths ---- */

#define CF__NORMS(T, suffix)                     \
    CF__FN T norm3d##suffix(T a, T b, T c)       \
    {                                            \
        return hypot(hypot(a, b), c);            \
    }                                            \
    CF__FN T norm4d##suffix(T a, T b, T c, T d)  \
    {                                            \
        return hypot(hypot(a, b), hypot(c, d));  \
    }                                            \
    CF__FN T rhypot##suffix(T a, T b)            \
    {                                            \
        return 1 / hypot(a, b);                  \
    }                                            \
    CF__FN T rnorm3d##suffix(T a, T b, T c)      \
    {                                            \
        return 1 / norm3d##suffix(a, b, c);      \
    }                                            \
    CF__FN T rnorm4d##suffix(T a, T b, T c, T d) \
    {                                            \
        return 1 / norm4d##suffix(a, b, c, d);   \
    }                                            \
    CF__FN T norm##suffix(int dim, const T *p)   \
    {                                            \
        T length = 0;                            \
        for (int i = 0; i < dim; i++)            \
            length = hypot(length, p[i]);        \
        return length;                           \
    }                                            \
    CF__FN T rnorm##suffix(int dim, const T *p)  \
    {                                            \
        return 1 / norm##suffix(dim, p);         \
    }
CF__NORMS(double, )
CF__NORMS(float, f)
#undef CF__NORMS

CF__FN float rhypot(float a, float b)
{
    return rhypotf(a, b);
}

/* ---- Plain names for float ---- */

CF__FN float exp10(float x)
{
    return exp10f(x);
}

CF__FN void sincos(float x, float *sine, float *cosine)
{
    sincosf(x, sine, cosine);
}

#endif
