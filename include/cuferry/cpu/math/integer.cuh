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

/* Reverses the bits of x: within bytes by swapping halves, then the bytes. */
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

/* Selects four of the eight bytes of y:x, as prmt of PTX. Bit 3 of a selector replicates the byte's sign. */
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

/* CUDA defines only three bits of a selector, unlike PTX: no sign is replicated. */
CF__FN unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selectors)
{
    return cf__select_bytes(x, y, selectors & 0x7777);
}

/* The high half of high:low << shift, and the low half of high:low >> shift. The shift is taken modulo 32, or clamped
 * to 32. */
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

/* The low 32 bits of the product of the operands' low 24 bits. */
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

/* c plus the products of the four bytes of a and b. */
CF__FN int __dp4a(int a, int b, int c)
{
    unsigned int sum = (unsigned int)c;
    for (int i = 0; i < 32; i += 8)
        sum += (unsigned int)((signed char)(a >> i) * (signed char)(b >> i));
    return (int)sum;
}

CF__FN unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c)
{
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}

CF__FN int __dp4a(char4 a, char4 b, int c)
{
    return __dp4a(cf__cast<int>(a), cf__cast<int>(b), c);
}

CF__FN unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c)
{
    return __dp4a(cf__cast<unsigned int>(a), cf__cast<unsigned int>(b), c);
}

#endif
