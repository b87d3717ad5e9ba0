/* intrinsics.cuh - floating-point functions with names beginning with __: fast functions, directed rounding,
 * conversions. */
#ifndef CUFERRY_CPU_INTRINSICS_CUH
#define CUFERRY_CPU_INTRINSICS_CUH

#include <limits.h>
#include <math.h>

#include <cuferry/cpu/types/convert.cuh>
#include <cuferry/cpu/words.cuh>

#include "casts.cuh"
#include "rounding.cuh"

/* ---- Fast functions: here as exact as the plain functions ----
 *
 * They are macros, because glibc declares most of these names internally. */

#define __expf(x) cf__fast(expf, x)
#define __exp10f(x) cf__fast(exp10f, x)
#define __logf(x) cf__fast(logf, x)
#define __log2f(x) cf__fast(log2f, x)
#define __log10f(x) cf__fast(log10f, x)
#define __sinf(x) cf__fast(sinf, x)
#define __cosf(x) cf__fast(cosf, x)
#define __tanf(x) cf__fast(tanf, x)
#define __tanhf(x) cf__fast(tanhf, x)
#define __powf(x, y) powf(x, y)
#define __sincosf(x, sine, cosine) sincosf(x, sine, cosine)
#define cf__fast(function, x) function(x)

/* Returns x / y as CUDA documents it: if 2^126 < |y| < infinity, the result is 0, or NaN for an infinite x. */
CF__FN float __fdividef(float x, float y)
{
    const float size = fabsf(y);
    return size > 8.507059173e37f && size <= 3.402823466e38f ? x * 0.0f : x / y;
}

CF__FN float fdividef(float x, float y)
{
    return x / y;
}

CF__FN double fdivide(double x, double y)
{
    return x / y;
}

/* Returns x limited to [0, 1], and 0 for NaN. */
CF__FN float __saturatef(float x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

/* ---- Rounded to nearest: never contracted into a fused multiply-add ---- */

/* Keeps the compiler from contracting an expression: if it could, the value passes through an opaque register. On
 * x86-64 some functions are compiled for processors with fused multiply-add, whatever the target of the file. */
template <typename T> CF__FN T cf__rounded(T x)
{
#if defined __x86_64__
    __asm__("" : "+x"(x));
#elif (defined __FP_FAST_FMAF || defined __FP_FAST_FMA) && defined __aarch64__
    __asm__("" : "+w"(x));
#endif
    return x;
}

#define CF__ROUNDED(name, T, parameters, value) \
    CF__FN T name parameters                    \
    {                                           \
        return cf__rounded(value);              \
    }
CF__ROUNDED(__fadd_rn, float, (float x, float y), cf__rounded(x) + cf__rounded(y))
CF__ROUNDED(__fsub_rn, float, (float x, float y), cf__rounded(x) - cf__rounded(y))
CF__ROUNDED(__fmul_rn, float, (float x, float y), (x * y))
CF__ROUNDED(__fdiv_rn, float, (float x, float y), x / y)
CF__ROUNDED(__frcp_rn, float, (float x), 1 / x)
CF__ROUNDED(__fsqrt_rn, float, (float x), __builtin_sqrtf(x))
CF__ROUNDED(__frsqrt_rn, float, (float x), (float)(1 / __builtin_sqrt((double)x)))
CF__ROUNDED(__fmaf_rn, float, (float x, float y, float z), __builtin_fmaf(x, y, z))
CF__ROUNDED(__fmaf_ieee_rn, float, (float x, float y, float z), __builtin_fmaf(x, y, z))
CF__ROUNDED(__dadd_rn, double, (double x, double y), cf__rounded(x) + cf__rounded(y))
CF__ROUNDED(__dsub_rn, double, (double x, double y), cf__rounded(x) - cf__rounded(y))
CF__ROUNDED(__dmul_rn, double, (double x, double y), (x * y))
CF__ROUNDED(__ddiv_rn, double, (double x, double y), x / y)
CF__ROUNDED(__drcp_rn, double, (double x), 1 / x)
CF__ROUNDED(__dsqrt_rn, double, (double x), __builtin_sqrt(x))
CF__ROUNDED(__fma_rn, double, (double x, double y, double z), __builtin_fma(x, y, z))
#undef CF__ROUNDED

/* ---- Directed rounding: float only ----
 *
 * A quotient or a root that is computed in double is only a float if it is exact, so that rounding it once more is
 * correct. */

#define CF__DIRECTED(rounding)                                           \
    CF__FN float __fadd_##rounding(float x, float y)                     \
    {                                                                    \
        return __double2float_##rounding(cf__sum_odd(x, y));             \
    }                                                                    \
    CF__FN float __fsub_##rounding(float x, float y)                     \
    {                                                                    \
        return __double2float_##rounding(cf__sum_odd(x, -(double)y));    \
    }                                                                    \
    CF__FN float __fmul_##rounding(float x, float y)                     \
    {                                                                    \
        return __double2float_##rounding((double)x * y);                 \
    }                                                                    \
    CF__FN float __fdiv_##rounding(float x, float y)                     \
    {                                                                    \
        return __double2float_##rounding((double)x / y);                 \
    }                                                                    \
    CF__FN float __frcp_##rounding(float x)                              \
    {                                                                    \
        return __double2float_##rounding(1 / (double)x);                 \
    }                                                                    \
    CF__FN float __fsqrt_##rounding(float x)                             \
    {                                                                    \
        return __double2float_##rounding(__builtin_sqrt((double)x));     \
    }                                                                    \
    CF__FN float __fmaf_##rounding(float x, float y, float z)            \
    {                                                                    \
        return __double2float_##rounding(cf__sum_odd((double)x * y, z)); \
    }                                                                    \
    CF__FN float __int2float_##rounding(int x)                           \
    {                                                                    \
        return __double2float_##rounding(x);                             \
    }                                                                    \
    CF__FN float __uint2float_##rounding(unsigned int x)                 \
    {                                                                    \
        return __double2float_##rounding(x);                             \
    }                                                                    \
    CF__FN float __ll2float_##rounding(long long x)                      \
    {                                                                    \
        return __double2float_##rounding(cf__integer_odd(x));            \
    }                                                                    \
    CF__FN float __ull2float_##rounding(unsigned long long x)            \
    {                                                                    \
        return __double2float_##rounding(cf__integer_odd(x));            \
    }
CF__DIRECTED(rz)
CF__DIRECTED(ru)
CF__DIRECTED(rd)
#undef CF__DIRECTED

/* ---- From integers ---- */

#define CF__FROM(name, From, To)    \
    CF__FN To __##name##_rn(From x) \
    {                               \
        return (To)x;               \
    }
CF__FROM(int2float, int, float)
CF__FROM(uint2float, unsigned int, float)
CF__FROM(ll2float, long long, float)
CF__FROM(ull2float, unsigned long long, float)
CF__FROM(int2double, int, double)
CF__FROM(uint2double, unsigned int, double)
CF__FROM(ll2double, long long, double)
CF__FROM(ull2double, unsigned long long, double)
#undef CF__FROM

/* ---- To integers ---- */

#define CF__TO(name, From, To)                             \
    CF__FN To __##name##_rn(From x)                        \
    {                                                      \
        return cf__saturate<To>((From)__builtin_rint(x));  \
    }                                                      \
    CF__FN To __##name##_rz(From x)                        \
    {                                                      \
        return cf__saturate<To>(x);                        \
    }                                                      \
    CF__FN To __##name##_ru(From x)                        \
    {                                                      \
        return cf__saturate<To>((From)__builtin_ceil(x));  \
    }                                                      \
    CF__FN To __##name##_rd(From x)                        \
    {                                                      \
        return cf__saturate<To>((From)__builtin_floor(x)); \
    }
CF__TO(float2int, float, int)
CF__TO(float2uint, float, unsigned int)
CF__TO(float2ll, float, long long)
CF__TO(float2ull, float, unsigned long long)
CF__TO(double2int, double, int)
CF__TO(double2uint, double, unsigned int)
CF__TO(double2ll, double, long long)
CF__TO(double2ull, double, unsigned long long)
#undef CF__TO

#endif
