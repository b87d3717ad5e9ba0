/* math.cuh - mathematical functions of CUDA that the C library lacks, and float functions under the plain names. */
#ifndef CUFERRY_CPU_MATH_CUH
#define CUFERRY_CPU_MATH_CUH

#include <stdlib.h>

#include <cuferry/cpu/words.cuh>

#include "clibrary.cuh"

/* ---- Smaller and larger ---- */

/* Defines min() and max() of two types, which are converted to T as in C. */
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
 * These are templates, because newer C libraries have functions of the same names, which then take precedence. */

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

/* Returns the sine or cosine of pi times x. x is reduced to [-1/4, 1/4], so that results of 0 and 1 are exact. */
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
