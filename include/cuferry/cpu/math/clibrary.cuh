/* clibrary.cuh - redefines functions of the C library so that they give a GPU's results. It is included before
 * <math.h>. The functions are not macros, because a kernel may have the same name. */
#ifndef CUFERRY_CPU_CLIBRARY_CUH
#define CUFERRY_CPU_CLIBRARY_CUH

#include <cuferry/cpu/types/convert.cuh>
#include <cuferry/cpu/words.cuh>

#include "casts.cuh"
#include "exponential.cuh"

/* Returns `value`, or for equal operands the bits of `value` and `a` combined: by OR if `is_either`, else by AND. Equal
 * operands with different bits are zeros of both signs, and the result gets the right sign. */
template <typename Bits, typename T> CF__FN CF__INLINE T cf__with_sign(T value, T a, bool is_equal, bool is_either)
{
    const Bits bits = cf__cast<Bits>(value), others = cf__cast<Bits>(a), all = is_equal ? ~(Bits)0 : 0;
    return cf__cast<T>(is_either ? bits | (others & all) : bits & (others | ~all));
}

/* Like a GPU, fmin() and fmax() ignore NaN operands and take -0 for less than 0. */
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

CF__FN CF__INLINE float cf__fminf(float a, float b)
{
    return cf__fmin(a, b);
}

CF__FN CF__INLINE float cf__fmaxf(float a, float b)
{
    return cf__fmax(a, b);
}

/* Rounds to an integer of 64 bits. A value out of range gives the least or the largest integer. */
#define CF__ROUND(name, Integer, round)                \
    CF__FN CF__INLINE Integer name(double x)           \
    {                                                  \
        return cf__saturate<Integer>(round(x));        \
    }                                                  \
    CF__FN CF__INLINE Integer name##f(float x)         \
    {                                                  \
        return cf__saturate<Integer>((float)round(x)); \
    }
CF__ROUND(cf__lrint, long, __builtin_rint)
CF__ROUND(cf__llrint, long long, __builtin_rint)
CF__ROUND(cf__lround, long, __builtin_round)
CF__ROUND(cf__llround, long long, __builtin_round)
#undef CF__ROUND

/* The functions of float and double with one argument or two. */
#define CF__OF_ONE(define, name, of_float, of_double) \
    define(name##f, of_float, (float x), (x)) define(name, of_double, (double x), (x))
#define CF__OF_TWO(define, name) \
    define(name##f, float, (float a, float b), (a, b)) define(name, double, (double a, double b), (a, b))

/* Calls such as std::exp(float) use the compiler's own functions, also in constant expressions. */
#if defined __clang__
#define CF__IN_STD(name, T, parameters, arguments) \
    CF__FN CF__INLINE T cf__std_##name parameters  \
    {                                              \
        return cf__##name arguments;               \
    }
#else
#define CF__IN_STD(name, T, parameters, arguments)                                                    \
    static constexpr inline CF__INLINE T cf__std_##name parameters                                    \
    {                                                                                                 \
        return __builtin_is_constant_evaluated() ? __builtin_##name arguments : cf__##name arguments; \
    }
#endif
CF__OF_ONE(CF__IN_STD, exp, float, double)
CF__OF_ONE(CF__IN_STD, log, float, double)
CF__OF_ONE(CF__IN_STD, tanh, float, double)
CF__OF_ONE(CF__IN_STD, lrint, long, long)
CF__OF_ONE(CF__IN_STD, llrint, long long, long long)
CF__OF_ONE(CF__IN_STD, lround, long, long)
CF__OF_ONE(CF__IN_STD, llround, long long, long long)
CF__OF_TWO(CF__IN_STD, fmin)
CF__OF_TWO(CF__IN_STD, fmax)
#undef CF__IN_STD
#define __builtin_expf cf__std_expf
#define __builtin_exp cf__std_exp
#define __builtin_logf cf__std_logf
#define __builtin_log cf__std_log
#define __builtin_tanhf cf__std_tanhf
#define __builtin_tanh cf__std_tanh
#define __builtin_lrintf cf__std_lrintf
#define __builtin_lrint cf__std_lrint
#define __builtin_llrintf cf__std_llrintf
#define __builtin_llrint cf__std_llrint
#define __builtin_lroundf cf__std_lroundf
#define __builtin_lround cf__std_lround
#define __builtin_llroundf cf__std_llroundf
#define __builtin_llround cf__std_llround
#define __builtin_fminf cf__std_fminf
#define __builtin_fmin cf__std_fmin
#define __builtin_fmaxf cf__std_fmaxf
#define __builtin_fmax cf__std_fmax
#include <math.h>

#include <cmath>
#undef __builtin_expf
#undef __builtin_exp
#undef __builtin_logf
#undef __builtin_log
#undef __builtin_tanhf
#undef __builtin_tanh
#undef __builtin_lrintf
#undef __builtin_lrint
#undef __builtin_llrintf
#undef __builtin_llrint
#undef __builtin_lroundf
#undef __builtin_lround
#undef __builtin_llroundf
#undef __builtin_llround
#undef __builtin_fminf
#undef __builtin_fmin
#undef __builtin_fmaxf
#undef __builtin_fmax

/* Calls by the plain names use these definitions. They are in a system header, so that files may declare the names
 * again as C does. Calls that compilers generate, and uses of the functions' addresses, still mean the functions of the
 * C library. */
#pragma GCC system_header
#ifdef __THROW
#define CF__NO_THROW __THROW
#else
#define CF__NO_THROW
#endif
extern "C" {
#define CF__CALLS(name, T, parameters, arguments)                                           \
    extern inline __attribute__((gnu_inline, always_inline)) T name parameters CF__NO_THROW \
    {                                                                                       \
        return cf__##name arguments;                                                        \
    }
CF__OF_ONE(CF__CALLS, exp, float, double)
CF__OF_ONE(CF__CALLS, log, float, double)
CF__OF_ONE(CF__CALLS, tanh, float, double)
#undef CF__CALLS

/* Flags tell compilers that these names are no builtins. The symbols differ from those of the C library. */
#define CF__REPLACES(name, T, parameters, arguments)         \
    T name parameters CF__NO_THROW __asm__("cf__of_" #name); \
    inline CF__INLINE T name parameters CF__NO_THROW         \
    {                                                        \
        return cf__##name arguments;                         \
    }
CF__OF_ONE(CF__REPLACES, lrint, long, long)
CF__OF_ONE(CF__REPLACES, llrint, long long, long long)
CF__OF_ONE(CF__REPLACES, lround, long, long)
CF__OF_ONE(CF__REPLACES, llround, long long, long long)
CF__OF_TWO(CF__REPLACES, fmin)
CF__OF_TWO(CF__REPLACES, fmax)

/* Bessel functions of a negative order are NaN. */
#define CF__BESSEL(name, T)                                       \
    T cf__library_##name(int n, T x) CF__NO_THROW __asm__(#name); \
    CF__FN CF__INLINE T cf__##name(int n, T x)                    \
    {                                                             \
        return n < 0 ? (T)NAN : cf__library_##name(n, x);         \
    }                                                             \
    CF__REPLACES(name, T, (int n, T x), (n, x))
CF__BESSEL(jnf, float)
CF__BESSEL(jn, double)
CF__BESSEL(ynf, float)
CF__BESSEL(yn, double)
#undef CF__BESSEL
#undef CF__REPLACES
}
#undef CF__NO_THROW
#undef CF__OF_ONE
#undef CF__OF_TWO

#endif
