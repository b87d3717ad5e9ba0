/* float16_bits.cuh - conversions between float and the bits of binary16 and bfloat16. */
#ifndef CUFERRY_CPU_FLOAT16_BITS_CUH
#define CUFERRY_CPU_FLOAT16_BITS_CUH

#include <stdint.h>

#include <cuferry/cpu/math/casts.cuh>
#include <cuferry/cpu/math/rounding.cuh>
#include <cuferry/cpu/words.cuh>

/* A format has conversions to and from float (to the nearest, ties to even) and the bits of its quiet NaN. The
 * conversions have no branches, so that loops over arrays can be vectorized. */
struct cf__binary16 {
    static constexpr uint16_t nan = 0x7fff, infinity = 0x7c00;

    static float to_float(uint16_t bits)
    {
        const uint32_t sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
        /* The exponents of binary16 and float have the biases 15 and 127, so that the number is multiplied by 2^112.
         * The product is right for denormals too. */
        uint32_t value = cf__cast<uint32_t>(cf__cast<float>(rest << 13) * 0x1p112f);
        value = rest >= infinity ? rest << 13 | 0x7f800000 : value;
        return cf__cast<float>(value | sign);
    }

    static uint16_t from_float(float x)
    {
        const uint32_t bits = cf__cast<uint32_t>(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
        /* The last bit of the float 0.5 + |x| has the value of the smallest binary16 number, so that the addition
         * rounds correctly. */
        const uint32_t small = cf__cast<uint32_t>(cf__cast<float>(rest) + 0.5f) - cf__cast<uint32_t>(0.5f);
        const uint32_t normal = (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
        uint32_t value = rest < 0x38800000 ? small : normal; /* 2^-14 */
        value = rest >= 0x47800000 ? infinity : value;       /* 2^16 */
        value = rest > 0x7f800000 ? nan : value;
        return (uint16_t)(rest > 0x7f800000 ? value : value | sign);
    }
};

struct cf__bfloat16 {
    static constexpr uint16_t nan = 0x7fff, infinity = 0x7f80;

    static float to_float(uint16_t bits)
    {
        return cf__cast<float>((uint32_t)bits << 16);
    }

    static uint16_t from_float(float x)
    {
        const uint32_t bits = cf__cast<uint32_t>(x);
        const uint32_t value = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : value);
    }
};

/* ---- With other rounding modes ---- */

template <typename Format> CF__FN uint16_t cf__round_up(float x)
{
    const uint16_t bits = Format::from_float(x);
    return Format::to_float(bits) < x ? (uint16_t)(bits & 0x8000 ? bits - 1 : bits + 1) : bits;
}

template <typename Format> CF__FN uint16_t cf__round_down(float x)
{
    const uint16_t bits = Format::from_float(x);
    return Format::to_float(bits) > x ? (uint16_t)(bits & 0x8000 ? bits + 1 : bits - 1) : bits;
}

template <typename Format> CF__FN uint16_t cf__round_to_zero(float x)
{
    return x < 0 ? cf__round_up<Format>(x) : cf__round_down<Format>(x);
}

#endif
