/* float16.h - converts between numbers and the bits of IEEE 754 binary16 or bfloat16. */
#ifndef FLOAT16_H
#define FLOAT16_H

#include <math.h>
#include <stdint.h>

/* Number of bits of the fraction. The sign has one of the 16 bits, and the exponent the others. */
#define FLOAT16_HALF 10
#define FLOAT16_BRAIN 7

static inline double float16_number(uint16_t bits, int fraction_bits)
{
    int limit = (1 << (15 - fraction_bits)) - 1, exponent = bits >> fraction_bits & limit;
    int fraction = bits & ((1 << fraction_bits) - 1), bias = limit / 2;
    double size = exponent == limit ? (fraction ? (double)NAN : (double)INFINITY)
                  : exponent        ? ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)
                                    : ldexp(fraction, 1 - bias - fraction_bits);
    return bits >> 15 ? -size : size;
}

/* Returns the bits of a number, rounded to nearest, ties to even; too large numbers become infinity. */
static inline uint16_t float16_bits(double number, int fraction_bits)
{
    int limit = (1 << (15 - fraction_bits)) - 1, bias = limit / 2, exponent;
    uint32_t sign = signbit(number) ? 1U << 15 : 0, infinite = (uint32_t)limit << fraction_bits;
    if (isnan(number))
        return (uint16_t)(sign | infinite | 1U << (fraction_bits - 1));
    if (isinf(number))
        return (uint16_t)(sign | infinite);
    if (number == 0)
        return (uint16_t)sign;
    frexp(number, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    if (exponent > bias)
        return (uint16_t)(sign | infinite);
    /* The significand is added with its leading 1, which raises the exponent by 1, or by 2 if it rounds up to 2; so 1
     * is subtracted first. */
    uint32_t significand = (uint32_t)rint(ldexp(fabs(number), fraction_bits - exponent));
    uint32_t bits = ((uint32_t)(exponent + bias - 1) << fraction_bits) + significand;
    return (uint16_t)(sign | (bits < infinite ? bits : infinite));
}

#endif
