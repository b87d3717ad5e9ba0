/* assembly.cuh - PTX instructions. The generator includes it in files whose inline assembly it replaces. */
#ifndef CUFERRY_CPU_ASSEMBLY_CUH
#define CUFERRY_CPU_ASSEMBLY_CUH

#include <limits.h>
#include <stdint.h>
#include <time.h>

#include <cuferry/cpu/float16/float16_bits.cuh>
#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/math/casts.cuh>
#include <cuferry/cpu/math/integer.cuh>
#include <cuferry/cpu/math/intrinsics.cuh>
#include <cuferry/cpu/math/math.cuh>
#include <cuferry/cpu/math/operators.cuh>
#include <cuferry/cpu/sync/atomics.cuh>
#include <cuferry/cpu/sync/memory.cuh>
#include <cuferry/cpu/sync/space.cuh>
#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/sync/warp.cuh>

template <typename T> struct cf__ptx_plain {
    typedef T type;
};
template <typename T> struct cf__ptx_plain<volatile T> {
    typedef T type;
};

template <typename To, typename From> CF__FN void cf__ptx_set(To &to, From from)
{
    to = cf__cast<typename cf__ptx_plain<To>::type>(from);
}

/* ---- Special registers ---- */

CF__FN unsigned int cf__ptx_warp()
{
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32;
}

CF__FN unsigned int cf__ptx_warps()
{
    return (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
}

/* Returns a time in nanoseconds. */
CF__FN unsigned long long cf__ptx_time()
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

/* ---- Bits ---- */

/* Returns the position of the highest bit that differs from the sign; all ones if all bits are equal. */
template <typename T> CF__FN unsigned int cf__ptx_bfind(T x)
{
    return 63u - (unsigned int)__clzll(x < (T)0 ? ~(long long)x : (long long)x);
}

template <typename T> CF__FN unsigned int cf__ptx_bfind_shift(T x)
{
    const unsigned int place = cf__ptx_bfind(x);
    return place == UINT_MAX ? place : CHAR_BIT * (unsigned int)sizeof(T) - 1 - place;
}

/* Returns a mask with the lowest `count` bits set. The count may exceed the width of a word. */
CF__FN unsigned long long cf__ptx_mask(unsigned int count)
{
    return count < 64 ? (1ull << count) - 1 : ~0ull;
}

/* Extracts a bit field. The other bits of the result are copies of the field's highest bit, or 0 if T is unsigned. If
 * the field reaches beyond the word, its missing bits are copies of the word's sign. */
template <typename T> CF__FN T cf__ptx_bfe(T x, unsigned int at, unsigned int count)
{
    at &= 0xff;
    count &= 0xff;
    if (count == 0)
        return 0;
    const unsigned long long mask = cf__ptx_mask(count);
    if ((T)0 < (T)-1)
        return (T)(at < 64 ? (unsigned long long)x >> at & mask : 0);
    const unsigned long long field = (unsigned long long)((long long)x >> (at < 64 ? at : 63)) & mask;
    return (T)(field >> (count < 64 ? count - 1 : 63) & 1 ? field | ~mask : field);
}

template <typename T> CF__FN T cf__ptx_bfi(T x, T into, unsigned int at, unsigned int count)
{
    at &= 0xff;
    count &= 0xff;
    if (at >= CHAR_BIT * sizeof(T))
        return into;
    const unsigned long long mask = cf__ptx_mask(count) << at;
    return (T)((into & ~mask) | ((unsigned long long)x << at & mask));
}

/* Returns for each place of the bits x, y and z the bit number 4 x + 2 y + z of the table. */
CF__FN unsigned int cf__ptx_lop3(unsigned int x, unsigned int y, unsigned int z, unsigned int table)
{
    unsigned int result = 0;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
    return result;
}

/* ---- Arithmetic ---- */

CF__FN unsigned long long cf__ptx_unsigned(long long x)
{
    return (unsigned long long)x;
}

CF__FN unsigned long long cf__ptx_unsigned(unsigned long long x)
{
    return x;
}

CF__FN unsigned int cf__ptx_unsigned(int x)
{
    return (unsigned int)x;
}

CF__FN unsigned int cf__ptx_unsigned(unsigned int x)
{
    return x;
}

template <typename T> CF__FN T cf__ptx_high(T x, T y)
{
    const int bits = CHAR_BIT * (int)sizeof(T);
    return (T)(((T)-1 < (T)1 ? (unsigned __int128)((__int128)x * y) : (unsigned __int128)x * y) >> bits);
}

/* The carry of the running thread. It is undefined after the thread has waited, because other threads have run in
 * between. */
static __thread unsigned int cf__ptx_carry;

/* Returns the sum of x, y and a carry. If `keeps`, the new carry is stored in cf__ptx_carry. */
template <typename T> CF__FN T cf__ptx_add(T x, T y, unsigned int carry, bool keeps)
{
    unsigned __int128 sum = (unsigned __int128)cf__ptx_unsigned(x) + cf__ptx_unsigned(y) + carry;
    if (keeps)
        cf__ptx_carry = (unsigned int)(sum >> CHAR_BIT * sizeof(T)) & 1;
    return (T)sum;
}

/* Returns the difference of x, y and a borrow. If `keeps`, the new borrow is stored in cf__ptx_carry. */
template <typename T> CF__FN T cf__ptx_subtract(T x, T y, unsigned int borrow, bool keeps)
{
    unsigned __int128 difference = (unsigned __int128)cf__ptx_unsigned(x) - cf__ptx_unsigned(y) - borrow;
    if (keeps)
        cf__ptx_carry = (unsigned int)(difference >> CHAR_BIT * sizeof(T)) & 1;
    return (T)difference;
}

/* Returns the nearest value of a narrower integer type. */
template <typename T, typename From> CF__FN T cf__ptx_clamp(From x)
{
    const bool is_signed = (T)-1 < (T)1;
    const __int128 least = is_signed ? -((__int128)1 << (CHAR_BIT * sizeof(T) - 1)) : 0;
    const __int128 most = ((__int128)1 << (CHAR_BIT * sizeof(T) - is_signed)) - 1;
    return (T)((__int128)x < least ? least : (__int128)x > most ? most : (__int128)x);
}

/* The instructions dp4a and dp2a, whose operands may be signed or unsigned. */
template <typename A, typename B> CF__FN unsigned int cf__ptx_dp4a(A a, B b, unsigned int c)
{
    typedef std::conditional_t<std::is_signed<A>::value, signed char, unsigned char> of_a;
    typedef std::conditional_t<std::is_signed<B>::value, signed char, unsigned char> of_b;
    return cf__dot<of_a, of_b>((unsigned int)a, (unsigned int)b, c);
}

template <typename A, typename B> CF__FN unsigned int cf__ptx_dp2a_lo(A a, B b, unsigned int c)
{
    typedef std::conditional_t<std::is_signed<A>::value, short, unsigned short> of_a;
    typedef std::conditional_t<std::is_signed<B>::value, signed char, unsigned char> of_b;
    return cf__dot<of_a, of_b>((unsigned int)a, (unsigned int)b, c);
}

template <typename A, typename B> CF__FN unsigned int cf__ptx_dp2a_hi(A a, B b, unsigned int c)
{
    return cf__ptx_dp2a_lo(a, (B)((unsigned int)b >> 16), c);
}

/* Returns `value`; if x or y is NaN, returns the NaN that PTX gives. */
CF__FN float cf__ptx_keep_nan(float value, float x, float y)
{
    return x != x || y != y ? cf__cast<float>(0x7fffffff) : value;
}

/* Returns a value that is not negative with the sign of the product of x and y. */
CF__FN float cf__ptx_of_signs(float value, float x, float y)
{
    const unsigned int sign = (cf__cast<unsigned int>(x) ^ cf__cast<unsigned int>(y)) & 0x80000000;
    return cf__cast<float>(value != value ? 0x7fffffff : cf__cast<unsigned int>(value) | sign);
}

template <typename T> CF__FN T cf__ptx_neg(T x)
{
    return -x;
}

CF__FN float cf__ptx_abs(float x)
{
    return __builtin_fabsf(x);
}

CF__FN double cf__ptx_abs(double x)
{
    return __builtin_fabs(x);
}

/* ---- Memory ---- */

template <typename T> CF__FN T cf__ptx_load(unsigned long long address)
{
    T value;
    __builtin_memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

template <typename T> CF__FN void cf__ptx_store(unsigned long long address, T value)
{
    __builtin_memcpy((void *)(uintptr_t)address, &value, sizeof value);
}

/* Copies the first `copied` of `bytes` bytes and sets the others to 0. */
CF__FN void cf__ptx_copy(unsigned long long to, unsigned long long from, unsigned int bytes, unsigned int copied)
{
    const unsigned int count = copied < bytes ? copied : bytes;
    __builtin_memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, count);
    __builtin_memset((char *)(uintptr_t)to + count, 0, bytes - count);
}

template <typename T> CF__FN T cf__ptx_load_ordered(unsigned long long address)
{
    T value;
    __atomic_load((const T *)(uintptr_t)address, &value, __ATOMIC_ACQUIRE);
    return value;
}

template <typename T> CF__FN void cf__ptx_store_ordered(unsigned long long address, T value)
{
    __atomic_store((T *)(uintptr_t)address, &value, __ATOMIC_RELEASE);
}

#endif
