/* float16.h - IEEE 754 binary16 and bfloat16 as numbers. */
#ifndef FLOAT16_H
#define FLOAT16_H

#include <math.h>
#include <stdint.h>

/* Bits of the fraction. The exponent has the rest of 15 bits. */
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

/* Rounds to nearest, ties to even; overflow becomes infinity. */
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
    /* Adding the fraction with its leading 1 also raises the exponent by 1, and by 2 if the fraction rounds up to 2. */
    uint32_t significand = (uint32_t)rint(ldexp(fabs(number), fraction_bits - exponent));
    uint32_t bits = ((uint32_t)(exponent + bias - 1) << fraction_bits) + significand;
    return (uint16_t)(sign | (bits < infinite ? bits : infinite));
}

#endif
