/* simd.cu - functions on the halves and bytes of a word, compared with plain arithmetic on each part. */
#include "expect.h"

/* Returns the part of a word that begins at a bit, as a signed or unsigned number. */
template <int bits> __device__ long long part(unsigned int word, int at, bool has_sign)
{
    const long long value = word >> at & ((1u << (bits - 1) << 1) - 1);
    return has_sign && value >> (bits - 1) ? value - (1ll << bits) : value;
}

/* Returns words whose parts are limits and other special numbers. */
__device__ unsigned int word(int i)
{
    const unsigned int special[] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 0x80008000, 0x7fff7fff,
                                    0x80808080, 0x7f7f7f7f, 0x00ff00ff, 0xff00ff00, 0x007f0080, 0x80017ffe, 0x01fe02fd};
    const int count = sizeof special / sizeof *special;
    return i < count ? special[i] : (unsigned int)i * 2654435761u ^ (unsigned int)i >> 3;
}

enum { WORDS = 40 };

/* Compares each part of a result with the result of a function on the parts of two words. */
template <int bits, typename Expected>
__device__ bool is_right(unsigned int result, unsigned int a, unsigned int b, bool has_sign, Expected expected)
{
    for (int at = 0; at < 32; at += bits) {
        const long long x = part<bits>(a, at, has_sign), y = part<bits>(b, at, has_sign);
        const long long least = has_sign ? -(1ll << (bits - 1)) : 0, most = least + (1ll << bits) - 1;
        if (part<bits>(result, at, false) != (expected(x, y, least, most) & ((1ll << bits) - 1)))
            return false;
    }
    return true;
}

#define OF_PARTS(call, bits, has_sign, expression)                                                       \
    EXPECT(is_right<bits>(call, a, b, has_sign, [](long long x, long long y, long long least, long long most) { \
        (void)y, (void)least, (void)most;                                                                \
        return (long long)(expression);                                                                  \
    }))
#define OF_ONE(name, has_sign, expression)              \
    OF_PARTS(name##2(a), 16, has_sign, expression);     \
    OF_PARTS(name##4(a), 8, has_sign, expression)
#define OF_TWO(name, has_sign, expression)              \
    OF_PARTS(name##2(a, b), 16, has_sign, expression);  \
    OF_PARTS(name##4(a, b), 8, has_sign, expression)
#define CLAMPED(value) ((value) < least ? least : (value) > most ? most : (value))
#define COMPARED(name, has_sign, operator)                          \
    OF_TWO(__vcmp##name, has_sign, x operator y ? -1 : 0);          \
    OF_TWO(__vset##name, has_sign, x operator y)

__device__ void arithmetic(int *wrong, unsigned int a, unsigned int b)
{
    OF_ONE(__vabs, true, x < 0 ? -x : x);
    OF_ONE(__vabsss, true, CLAMPED(x < 0 ? -x : x));
    OF_ONE(__vneg, true, -x);
    OF_ONE(__vnegss, true, CLAMPED(-x));
    OF_TWO(__vadd, false, x + y);
    OF_TWO(__vaddss, true, CLAMPED(x + y));
    OF_TWO(__vaddus, false, CLAMPED(x + y));
    OF_TWO(__vsub, false, x - y);
    OF_TWO(__vsubss, true, CLAMPED(x - y));
    OF_TWO(__vsubus, false, CLAMPED(x - y));
    OF_TWO(__vabsdiffs, true, x < y ? y - x : x - y);
    OF_TWO(__vabsdiffu, false, x < y ? y - x : x - y);
    OF_TWO(__vavgs, true, x + y < 0 ? -(-(x + y) / 2) - (-(x + y) % 2) : (x + y + 1) / 2);
    OF_TWO(__vavgu, false, (x + y + 1) / 2);
    OF_TWO(__vhaddu, false, (x + y) / 2);
    OF_TWO(__vmaxs, true, x > y ? x : y);
    OF_TWO(__vmaxu, false, x > y ? x : y);
    OF_TWO(__vmins, true, x < y ? x : y);
    OF_TWO(__vminu, false, x < y ? x : y);
}

__device__ void comparisons(int *wrong, unsigned int a, unsigned int b)
{
    COMPARED(eq, false, ==);
    COMPARED(ne, false, !=);
    COMPARED(ges, true, >=);
    COMPARED(geu, false, >=);
    COMPARED(gts, true, >);
    COMPARED(gtu, false, >);
    COMPARED(les, true, <=);
    COMPARED(leu, false, <=);
    COMPARED(lts, true, <);
    COMPARED(ltu, false, <);
}

template <int bits> __device__ unsigned int sum_of_differences(unsigned int a, unsigned int b, bool has_sign)
{
    long long sum = 0;
    for (int at = 0; at < 32; at += bits) {
        const long long x = part<bits>(a, at, has_sign), y = part<bits>(b, at, has_sign);
        sum += x < y ? y - x : x - y;
    }
    return (unsigned int)sum;
}

__device__ void sums(int *wrong, unsigned int a, unsigned int b)
{
    EXPECT(__vsads2(a, b) == sum_of_differences<16>(a, b, true));
    EXPECT(__vsadu2(a, b) == sum_of_differences<16>(a, b, false));
    EXPECT(__vsads4(a, b) == sum_of_differences<8>(a, b, true));
    EXPECT(__vsadu4(a, b) == sum_of_differences<8>(a, b, false));
}

/* Compares functions of three words; z is the part of the third one. */
#define GREATER(x, y) ((x) > (y) ? (x) : (y))
#define LESSER(x, y) ((x) < (y) ? (x) : (y))
#define OF_THREE(call, bits, has_sign, expression)                                                                \
    for (int at = 0; at < 32; at += bits) {                                                                       \
        const long long x = part<bits>(a, at, has_sign), y = part<bits>(b, at, has_sign);                         \
        const long long z = part<bits>(c, at, has_sign);                                                          \
        /* x + y, truncated to this many bits */                                                                       \
        const long long sum = part<bits>((unsigned int)(unsigned long long)(x + y), 0, has_sign);                 \
        (void)z, (void)sum;                                                                                       \
        EXPECT(part<bits>((unsigned int)(call), at, has_sign) == (expression));                                   \
    }
#define EXTREMES(kind, bits, has_sign)                                                              \
    OF_THREE(__vimax3_##kind(a, b, c), bits, has_sign, GREATER(GREATER(x, y), z))                   \
    OF_THREE(__vimin3_##kind(a, b, c), bits, has_sign, LESSER(LESSER(x, y), z))                     \
    OF_THREE(__viaddmax_##kind(a, b, c), bits, has_sign, GREATER(sum, z))                           \
    OF_THREE(__viaddmin_##kind(a, b, c), bits, has_sign, LESSER(sum, z))
#define EXTREMES_AND_0(kind, bits)                                                                  \
    OF_THREE(__vimax_##kind##_relu(a, b), bits, true, GREATER(GREATER(x, y), 0))                    \
    OF_THREE(__vimin_##kind##_relu(a, b), bits, true, GREATER(LESSER(x, y), 0))                     \
    OF_THREE(__vimax3_##kind##_relu(a, b, c), bits, true, GREATER(GREATER(GREATER(x, y), z), 0))    \
    OF_THREE(__vimin3_##kind##_relu(a, b, c), bits, true, GREATER(LESSER(LESSER(x, y), z), 0))      \
    OF_THREE(__viaddmax_##kind##_relu(a, b, c), bits, true, GREATER(GREATER(sum, z), 0))            \
    OF_THREE(__viaddmin_##kind##_relu(a, b, c), bits, true, GREATER(LESSER(sum, z), 0))

__device__ void extremes(int *wrong, unsigned int a, unsigned int b, unsigned int c)
{
    EXTREMES(s32, 32, true)
    EXTREMES(u32, 32, false)
    EXTREMES(s16x2, 16, true)
    EXTREMES(u16x2, 16, false)
    EXTREMES_AND_0(s32, 32)
    EXTREMES_AND_0(s16x2, 16)
}

__device__ void firsts(int *wrong, unsigned int a, unsigned int b)
{
    bool is = false, other = false;
    const int x = (int)a, y = (int)b;
    EXPECT(__vibmax_s32(x, y, &is) == GREATER(x, y) && is == (x >= y));
    EXPECT(__vibmin_s32(x, y, &is) == LESSER(x, y) && is == (x <= y));
    EXPECT(__vibmax_u32(a, b, &is) == GREATER(a, b) && is == (a >= b));
    EXPECT(__vibmin_u32(a, b, &is) == LESSER(a, b) && is == (a <= b));
    const long long high = part<16>(a, 16, true), low = part<16>(a, 0, true);
    const long long other_high = part<16>(b, 16, true), other_low = part<16>(b, 0, true);
    EXPECT(__vibmax_s16x2(a, b, &is, &other) == __vmaxs2(a, b) && is == (high >= other_high) &&
           other == (low >= other_low));
    EXPECT(__vibmin_s16x2(a, b, &is, &other) == __vmins2(a, b) && is == (high <= other_high) &&
           other == (low <= other_low));
    EXPECT(__vibmax_u16x2(a, b, &is, &other) == __vmaxu2(a, b) && is == (a >> 16 >= b >> 16) &&
           other == ((a & 0xffff) >= (b & 0xffff)));
    EXPECT(__vibmin_u16x2(a, b, &is, &other) == __vminu2(a, b) && is == (a >> 16 <= b >> 16) &&
           other == ((a & 0xffff) <= (b & 0xffff)));
}

__global__ void check(int *wrong)
{
    for (int i = 0; i < WORDS; i++)
        for (int j = 0; j < WORDS; j++) {
            arithmetic(wrong, word(i), word(j));
            comparisons(wrong, word(i), word(j));
            sums(wrong, word(i), word(j));
            firsts(wrong, word(i), word(j));
            for (int k = 0; k < 14; k++)
                extremes(wrong, word(i), word(j), word(k));
        }
}

EXPECT_RUN
