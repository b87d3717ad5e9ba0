/* rounding.cuh - rounding in other directions than to nearest, computed in double without changing the CPU's rounding
 * mode. */
#ifndef CUFERRY_CPU_ROUNDING_CUH
#define CUFERRY_CPU_ROUNDING_CUH

#include <cuferry/cpu/words.cuh>

#include "casts.cuh"

/* ---- Rounding to odd ----
 *
 * The value is truncated, and its last bit is set if the truncated part was not 0. If the result is rounded again, to a
 * type with at least two bits less, this gives the same result as rounding the exact value once. */

/* Rounds x + rest to odd, where x is the value nearest to the sum; Bits is the integer type of x's size. */
template <typename Bits, typename Float> CF__FN Float cf__odd(Float x, Float rest)
{
    Bits bits = cf__cast<Bits>(x);
    if (!(rest != 0) || bits & 1)
        return x;
    /* Both neighbours of the even number x are odd. */
    return cf__cast<Float>((x > 0) == (rest > 0) || x == 0 ? bits + 1 : bits - 1);
}

/* Returns a + b rounded to odd. The error of the rounded sum is computed exactly (Knuth). */
CF__FN double cf__sum_odd(double a, double b)
{
    const double sum = a + b, part = sum - a;
    if (!(sum - sum == 0)) /* infinite, or NaN */
        return sum;
    return cf__odd<unsigned long long>(sum, (a - (sum - part)) + (b - part));
}

CF__FN float cf__float_odd(double x)
{
    const float f = (float)x;
    if (!(x - x == 0))
        return f;
    if (!(f - f == 0)) /* too large for float: rounding to odd never gives infinity */
        return cf__cast<float>(cf__cast<unsigned int>(f) - 1);
    return cf__odd<unsigned int>(f, (float)((x > f) - (x < f)));
}

/* Rounds an integer, which may have more bits than double, to odd. */
CF__FN double cf__integer_odd(unsigned long long x)
{
    return x >> 53 ? (double)(x >> 11 | ((x & 0x7ff) != 0)) * 2048 : (double)x;
}

CF__FN double cf__integer_odd(long long x)
{
    return x < 0 ? -cf__integer_odd(0 - (unsigned long long)x) : cf__integer_odd((unsigned long long)x);
}

/* ---- Conversions from double to float, towards 0, up and down, under CUDA's names ---- */

/* Returns the next number above x if `up`, else the next number below x. An infinite x gives the infinity of the
 * opposite sign. */
template <typename Bits, typename Float> CF__FN Float cf__step(Float x, bool up)
{
    const Bits bits = cf__cast<Bits>(x);
    if (x == 0) /* the result is the smallest number, with the sign of the direction */
        return up ? cf__cast<Float>((Bits)1) : -cf__cast<Float>((Bits)1);
    return cf__cast<Float>((x > 0) == up ? bits + 1 : bits - 1);
}

CF__FN float __double2float_rn(double x)
{
    return (float)x;
}

CF__FN float __double2float_ru(double x)
{
    const float f = (float)x;
    return f < x ? cf__step<unsigned int>(f, true) : f;
}

CF__FN float __double2float_rd(double x)
{
    const float f = (float)x;
    return f > x ? cf__step<unsigned int>(f, false) : f;
}

CF__FN float __double2float_rz(double x)
{
    return x < 0 ? __double2float_ru(x) : __double2float_rd(x);
}

#endif
