/* integer.cuh - functions of integers: bits, products, averages. */
#ifndef CUFERRY_CPU_INTEGER_CUH
#define CUFERRY_CPU_INTEGER_CUH

#include <cuferry/cpu/types/vector.cuh>
#include <cuferry/cpu/words.cuh>

#include "casts.cuh"

/* ---- Bits ---- */

CF__FN int __popc(unsigned int x)
{
    return __builtin_popcount(x);
}

CF__FN int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

CF__FN int __clz(int x)
{
    return x ? __builtin_clz((unsigned int)x) : 32;
}

CF__FN int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}

CF__FN int __ffs(int x)
{
    return __builtin_ffs(x);
}

CF__FN int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

/* Reverses the bits of x: first the bits within each byte, by swapping halves, then the order of the bytes. */
CF__FN unsigned long long __brevll(unsigned long long x)
{
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(x);
}

CF__FN unsigned int __brev(unsigned int x)
{
    return (unsigned int)(__brevll(x) >> 32);
}

/* Selects four of the eight bytes of y:x, like prmt of PTX. If bit 3 of a selector is set, the byte's sign is
 * replicated. */
CF__FN unsigned int cf__select_bytes(unsigned int x, unsigned int y, unsigned int selectors)
{
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int chosen = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned int selector = selectors >> 4 * i, byte = (unsigned int)(bytes >> 8 * (selector & 7)) & 0xff;
        chosen |= (selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return chosen;
}

/* Selects four bytes of y:x. Only three bits of a selector count, unlike in PTX, so that no sign is copied. */
CF__FN unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selectors)
{
    return cf__select_bytes(x, y, selectors & 0x7777);
}

/* Functions that return the high half of high:low << shift, or the low half of high:low >> shift. The shift is taken
 * modulo 32, or is limited to 32. */
CF__FN unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}

CF__FN unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}

CF__FN unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

CF__FN unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}

/* ---- Products ---- */

CF__FN int __mulhi(int x, int y)
{
    return (int)((long long)x * y >> 32);
}

CF__FN unsigned int __umulhi(unsigned int x, unsigned int y)
{
    return (unsigned int)((unsigned long long)x * y >> 32);
}

CF__FN long long __mul64hi(long long x, long long y)
{
    return (long long)((__int128)x * y >> 64);
}

CF__FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}

/* Returns the low 32 bits of the product of the operands' low 24 bits. */
CF__FN unsigned int __umul24(unsigned int x, unsigned int y)
{
    return (x & 0xffffff) * (y & 0xffffff);
}

CF__FN int __mul24(int x, int y)
{
    const int signed_x = (int)((unsigned int)x << 8) >> 8, signed_y = (int)((unsigned int)y << 8) >> 8;
    return (int)((long long)signed_x * signed_y);
}

/* ---- Sums and averages ---- */

CF__FN unsigned int __sad(int x, int y, unsigned int z)
{
    return (x < y ? (unsigned int)y - (unsigned int)x : (unsigned int)x - (unsigned int)y) + z;
}

CF__FN unsigned int __usad(unsigned int x, unsigned int y, unsigned int z)
{
    return (x < y ? y - x : x - y) + z;
}

CF__FN int __hadd(int x, int y)
{
    return (int)(((long long)x + y) >> 1);
}

CF__FN int __rhadd(int x, int y)
{
    return (int)(((long long)x + y + 1) >> 1);
}

CF__FN unsigned int __uhadd(unsigned int x, unsigned int y)
{
    return (unsigned int)(((unsigned long long)x + y) >> 1);
}

CF__FN unsigned int __urhadd(unsigned int x, unsigned int y)
{
    return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}

/* Returns the part of v that has type T and begins at a bit. Compilers vectorize shifts, but not conversions to narrow
 * types. */
template <typename T> CF__FN unsigned int cf__part(unsigned int v, int bit)
{
    const int behind = 32 - 8 * (int)sizeof(T);
    const unsigned int first = v << (behind - bit);
    return (T)-1 < 0 ? (unsigned int)((int)first >> behind) : first >> behind;
}

/* Returns c plus the products of the parts of a, which have type A, and the lowest bytes of b, which have type B. */
template <typename A, typename B> CF__FN unsigned int cf__dot(unsigned int a, unsigned int b, unsigned int c)
{
    c += cf__part<A>(a, 0) * cf__part<B>(b, 0) + cf__part<A>(a, 8 * sizeof(A)) * cf__part<B>(b, 8);
    if (sizeof(A) == 1)
        c += cf__part<A>(a, 16) * cf__part<B>(b, 16) + cf__part<A>(a, 24) * cf__part<B>(b, 24);
    return c;
}

/* Defines the dot products of four bytes of a and b, and of two halves of a with two bytes of b. */
#define CF__DOT(T, byte, half, bytes, halves)                       \
    CF__FN T __dp4a(T a, T b, T c)                                  \
    {                                                               \
        return (T)cf__dot<byte, byte>(a, b, c);                     \
    }                                                               \
    CF__FN T __dp2a_lo(T a, T b, T c)                               \
    {                                                               \
        return (T)cf__dot<half, byte>(a, b, c);                     \
    }                                                               \
    CF__FN T __dp2a_hi(T a, T b, T c)                               \
    {                                                               \
        return (T)cf__dot<half, byte>(a, (unsigned int)b >> 16, c); \
    }                                                               \
    CF__FN T __dp4a(bytes a, bytes b, T c)                          \
    {                                                               \
        return __dp4a(cf__cast<T>(a), cf__cast<T>(b), c);           \
    }                                                               \
    CF__FN T __dp2a_lo(halves a, bytes b, T c)                      \
    {                                                               \
        return __dp2a_lo(cf__cast<T>(a), cf__cast<T>(b), c);        \
    }                                                               \
    CF__FN T __dp2a_hi(halves a, bytes b, T c)                      \
    {                                                               \
        return __dp2a_hi(cf__cast<T>(a), cf__cast<T>(b), c);        \
    }
CF__DOT(int, signed char, short, char4, short2)
CF__DOT(unsigned int, unsigned char, unsigned short, uchar4, ushort2)
#undef CF__DOT

/* Returns the position of the n-th bit of the mask that is 1, counted from position `base` upwards, or downwards if n
 * is negative. Returns all ones if there is none. If n is 0, returns `base` if the bit there is 1, else all ones. */
CF__FN unsigned int __fns(unsigned int mask, unsigned int base, int n)
{
    const unsigned int step = n < 0 ? ~0u : 1;
    unsigned int left = n < 0 ? 0 - (unsigned int)n : n > 0 ? (unsigned int)n : 1;
    for (unsigned int at = base; at < 32; at += step)
        if ((mask >> at & 1 && --left == 0) || n == 0)
            return mask >> at & 1 ? at : ~0u;
    return ~0u;
}

#endif
