/* random.h - seeded random numbers, which are accessed by index and the same on every machine.
 *
 * Number `i` of seed `s` is output i of SplitMix64 with state s (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014; constants of Vigna's public-domain splitmix64.c). Output i needs no earlier output,
 * so that any number of threads can fill an array in any order. The numbers are predictable and must not be used for
 * secrets. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* Returns 64 random bits. */
static inline uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Return numbers that are uniform in [0, 1): multiples of 2^-24 and of 2^-53, which the types hold exactly. */
static inline float random_f32(uint64_t seed, uint64_t i)
{
    return (float)(random_bits(seed, i) >> 40) * 0x1p-24f;
}

static inline double random_f64(uint64_t seed, uint64_t i)
{
    return (double)(random_bits(seed, i) >> 11) * 0x1p-53;
}

/* Returns an integer that is uniform in [0, span); a span of 0 stands for 2^64. Each value's probability is off by less
 * than 2^-64. Rejection sampling would be exact, but then number i would not depend on i alone. */
static inline uint64_t random_below(uint64_t seed, uint64_t i, uint64_t span)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t bits = random_bits(seed, i);
    return span ? (uint64_t)(((wide)bits * span) >> 64) : bits;
}

/* Returns an integer that is uniform in [low, high), which must not be empty. */
static inline int64_t random_integer(uint64_t seed, uint64_t i, int64_t low, int64_t high)
{
    return (int64_t)((uint64_t)low + random_below(seed, i, (uint64_t)high - (uint64_t)low));
}

/* Returns element i, i < span, of a random permutation of [0, span); a span of 0 stands for 2^64. Four rounds of a
 * Feistel network permute the numbers below the next power of two; a result outside the span is permuted again. */
static inline uint64_t random_permuted(uint64_t seed, uint64_t i, uint64_t span)
{
    const int bits = span == 1 ? 0 : 64 - __builtin_clzll(span - 1), low_bits = bits / 2, high_bits = bits - low_bits;
    const uint64_t low_mask = ((uint64_t)1 << low_bits) - 1, high_mask = ((uint64_t)1 << high_bits) - 1;
    do {
        uint64_t low = i & low_mask, high = i >> low_bits;
        for (uint64_t round = 0; round < 4; round++) {
            if (round % 2)
                low ^= random_bits(seed + round, high) & low_mask;
            else
                high ^= random_bits(seed + round, low) & high_mask;
        }
        i = high << low_bits | low;
    } while (span && i >= span);
    return i;
}

#endif
