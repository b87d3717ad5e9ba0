/* exponential.cuh - exp(), log() and tanh() of float and double as plain arithmetic.
 *
 * Compilers can vectorize loops with these functions, even under conditions, on any processor. A value has the same
 * result in every loop, vectorized or not. The coefficients minimise the largest relative error (Remez' algorithm). */
#ifndef CUFERRY_CPU_EXPONENTIAL_CUH
#define CUFERRY_CPU_EXPONENTIAL_CUH

#include <cuferry/cpu/words.cuh>

#include "casts.cuh"

/* Returns 2 to the power n, which has to be a normal number. */
CF__FN CF__INLINE float cf__power_of_two(float, int n)
{
    return cf__cast<float>((n + 127) << 23);
}

CF__FN CF__INLINE double cf__power_of_two(double, int n)
{
    return cf__cast<double>((unsigned long long)(n + 1023) << 52);
}

/* ln 2 as a sum of two numbers. The higher one has so few bits that its product with an exponent is exact. */
template <typename T> struct cf__ln2;

template <> struct cf__ln2<float> {
    static constexpr float high = 0x1.63p-1f, low = -0x1.bd0106p-13f;
};

template <> struct cf__ln2<double> {
    static constexpr double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
};

/* Returns (exp(r) - 1 - r) / (r * r) for |r| <= ln 2 / 2. Errors relative to exp(r): 2^-28 (float), 2^-63 (double). */
CF__FN CF__INLINE float cf__exp_series(float r)
{
    return 0.499999935f + r * (0.166665209f + r * (0.0416683801f + r * (0.00836870836f + r * 0.00138148424f)));
}

CF__FN CF__INLINE double cf__exp_series(double r)
{
    const double r2 = r * r, r4 = r2 * r2;
    const double first = 0.5 + r * 0.166666666666666829 + r2 * (0.0416666666666661141 + r * 0.00833333333331729713);
    const double second = 0.00138888888891111906 + r * 0.000198412698958939018 +
                          r2 * (0.0000248015869308779444 + r * 2.75572352374099899e-6);
    const double third = 2.75575801407243264e-7 + r * 2.51119358258515764e-8 + r2 * 2.08268391230319847e-9;
    return first + r4 * (second + r4 * third);
}

/* Returns 2 atanh(s) / s - 2 from z = s * s, for s up to 0.172. Relative to 2 atanh(s), the errors are 2^-30 (float)
 * and 2^-59 (double). */
CF__FN CF__INLINE float cf__log_series(float z)
{
    return z * (0.666667757f + z * (0.399775846f + z * 0.298712065f));
}

CF__FN CF__INLINE double cf__log_series(double z)
{
    const double z2 = z * z;
    const double last = 0.181835541357628045 + z * 0.153142618162776041 + z2 * 0.147942494937619303;
    return z * (0.666666666666673089 + z * 0.399999999994317731 +
                z2 * (0.2857142873943326 + z * 0.222221988155251332 + z2 * last));
}

/* Returns exp(x), which is 0 below `least` and infinite above `most`. `bias` - 1/2 makes the exponent of `least`
 * positive. The power of two is multiplied as two factors, because a denormal power is no normal number. */
template <typename T> CF__FN CF__INLINE T cf__exp(T x, T least, T most, int bias)
{
    const T from = x > least ? x : least, at = from < most ? from : most;
    const int biased = (int)(at * (T)1.44269504088896341 + (T)(bias + 0.5)), half = biased >> 1;
    const T n = (T)(biased - bias), r = at - n * cf__ln2<T>::high - n * cf__ln2<T>::low;
    const T value = 1 + (r + r * r * cf__exp_series(r));
    return x != x
               ? x
               : value * cf__power_of_two(x, half - bias / 2) * cf__power_of_two(x, biased - half - (bias - bias / 2));
}

/* With h = (exp(2 x) - 1) / 2, which is exact near 0, the result is h / (1 + h), or h - h * h / (1 + h) where that is
 * more exact. Beyond `most` / 2 the result is 1. */
template <typename T> CF__FN CF__INLINE T cf__tanh(T x, T most)
{
    const T twice = x < 0 ? -2 * x : 2 * x, at = twice < most ? twice : most;
    const int exponent = (int)(at * (T)1.44269504088896341 + (T)0.5);
    const T n = (T)exponent, r = at - n * cf__ln2<T>::high - n * cf__ln2<T>::low, scale = cf__power_of_two(x, exponent);
    const T half = (T)0.5 * (scale - 1 + scale * (r + r * r * cf__exp_series(r)));
    const bool is_near = at < (T)0.7;
    const T value = (is_near ? half : 0) + (is_near ? -half * half : half) / (1 + half);
    return x > 0 ? value : x < 0 ? -value : x;
}

/* Splits a normal number x into its exponent and a factor in [sqrt(1/2), sqrt(2)). */
CF__FN CF__INLINE float cf__split(float x, int *exponent)
{
    const unsigned int bits = cf__cast<unsigned int>(x);
    *exponent = (int)(bits - 0x3f3504f3) >> 23;
    return cf__cast<float>(bits - ((unsigned int)*exponent << 23));
}

CF__FN CF__INLINE double cf__split(double x, int *exponent)
{
    const unsigned long long bits = cf__cast<unsigned long long>(x);
    *exponent = (int)((unsigned int)(bits >> 32) - 0x3fe6a09e) >> 20;
    return cf__cast<double>(bits - ((unsigned long long)*exponent << 52));
}

/* Returns log(x). A denormal x is multiplied by 2 to the power `shift`, which makes it normal. */
template <typename T> CF__FN CF__INLINE T cf__log(T x, T least_normal, int shift)
{
    const bool is_denormal = x < least_normal;
    int exponent;
    const T f = cf__split(is_denormal ? x * cf__power_of_two(x, shift) : x, &exponent) - 1;
    const T n = (T)(is_denormal ? exponent - shift : exponent), s = f / (2 + f), square = (T)0.5 * f * f;
    const T small = s * (square + cf__log_series(s * s)) + n * cf__ln2<T>::low;
    const T value = n * cf__ln2<T>::high - (square - small - f);
    const T infinite = (T)__builtin_inf(), other = x == 0 ? -infinite : (T)__builtin_nan("");
    return x > 0 ? (x < infinite ? value : x) : other;
}

CF__FN CF__INLINE float cf__expf(float x)
{
    return cf__exp(x, -104.0f, 89.0f, 152);
}

CF__FN CF__INLINE double cf__exp(double x)
{
    return cf__exp(x, -746.0, 710.0, 1078);
}

CF__FN CF__INLINE float cf__logf(float x)
{
    return cf__log(x, 0x1p-126f, 23);
}

CF__FN CF__INLINE double cf__log(double x)
{
    return cf__log(x, 0x1p-1022, 54);
}

CF__FN CF__INLINE float cf__tanhf(float x)
{
    return cf__tanh(x, 20.0f);
}

CF__FN CF__INLINE double cf__tanh(double x)
{
    return cf__tanh(x, 44.0);
}

#endif
