/* simd.cuh - functions of the two halves or the four bytes of a word, and functions of three words. */
#ifndef CUFERRY_CPU_SIMD_CUH
#define CUFERRY_CPU_SIMD_CUH

#include <cuferry/cpu/words.cuh>

/* Returns the part of a word that begins at bit `at` and has `bits` bits, as a number. */
template <int bits, bool has_sign> CF__FN CF__INLINE long long cf__part(unsigned long long word, int at = 0)
{
    const unsigned int high = (unsigned int)(word >> at) << (32 - bits);
    return has_sign ? (long long)((int)high >> (32 - bits)) : (long long)(high >> (32 - bits));
}

/* Applies a function to the parts of words, and returns the word that consists of the results. */
template <int bits, bool has_sign, typename Function, typename... Words>
CF__FN CF__INLINE unsigned int cf__by_parts(Function function, Words... words)
{
    unsigned int result = 0;
    for (int at = 0; at < 32; at += bits)
        result |= (unsigned int)cf__part<bits, false>(
                      (unsigned long long)function(cf__part<bits, has_sign>((unsigned int)words, at)...))
                  << at;
    return result;
}

CF__FN CF__INLINE long long cf__greater(long long x, long long y)
{
    return x < y ? y : x;
}

CF__FN CF__INLINE long long cf__lesser(long long x, long long y)
{
    return y < x ? y : x;
}

/* Returns the number nearest to x that fits `bits` bits. */
template <int bits, bool has_sign> CF__FN CF__INLINE long long cf__saturated(long long x)
{
    const long long past = 1ll << (has_sign ? bits - 1 : bits);
    return cf__lesser(cf__greater(x, has_sign ? -past : 0), past - 1);
}

/* ---- Halves and bytes ---- */

/* Defines a function of one or two words, by halves (name2) and by bytes (name4). */
#define CF__SIMD_OF_ONE(name, has_sign, expression)                                                  \
    CF__FN unsigned int name##2(unsigned int a)                                                      \
    {                                                                                                \
        constexpr int bits = 16;                                                                     \
        return cf__by_parts<bits, has_sign>([](long long x) -> long long { return expression; }, a); \
    }                                                                                                \
    CF__FN unsigned int name##4(unsigned int a)                                                      \
    {                                                                                                \
        constexpr int bits = 8;                                                                      \
        return cf__by_parts<bits, has_sign>([](long long x) -> long long { return expression; }, a); \
    }
#define CF__SIMD(name, has_sign, expression)                                                                         \
    CF__FN unsigned int name##2(unsigned int a, unsigned int b)                                                      \
    {                                                                                                                \
        constexpr int bits = 16;                                                                                     \
        return cf__by_parts<bits, has_sign>([](long long x, long long y) -> long long { return expression; }, a, b); \
    }                                                                                                                \
    CF__FN unsigned int name##4(unsigned int a, unsigned int b)                                                      \
    {                                                                                                                \
        constexpr int bits = 8;                                                                                      \
        return cf__by_parts<bits, has_sign>([](long long x, long long y) -> long long { return expression; }, a, b); \
    }
/* Defines a comparison of parts: if it holds, all bits of a part are set (__vcmp), or the lowest bit (__vset). */
#define CF__SIMD_COMPARISON(name, has_sign, operator)       \
    CF__SIMD(__vcmp##name, has_sign, x operator y ? -1 : 0) \
    CF__SIMD(__vset##name, has_sign, x operator y)

CF__SIMD_OF_ONE(__vabs, true, x < 0 ? -x : x)
CF__SIMD_OF_ONE(__vabsss, true, (cf__saturated<bits, true>(x < 0 ? -x : x)))
CF__SIMD_OF_ONE(__vneg, true, -x)
CF__SIMD_OF_ONE(__vnegss, true, (cf__saturated<bits, true>(-x)))
CF__SIMD(__vadd, false, x + y)
CF__SIMD(__vaddss, true, (cf__saturated<bits, true>(x + y)))
CF__SIMD(__vaddus, false, (cf__saturated<bits, false>(x + y)))
CF__SIMD(__vsub, false, x - y)
CF__SIMD(__vsubss, true, (cf__saturated<bits, true>(x - y)))
CF__SIMD(__vsubus, false, (cf__saturated<bits, false>(x - y)))
CF__SIMD(__vabsdiffs, true, x < y ? y - x : x - y)
CF__SIMD(__vabsdiffu, false, x < y ? y - x : x - y)
CF__SIMD(__vavgs, true, (x + y + (x + y >= 0)) >> 1) /* numbers halfway between two integers are rounded away from 0 */
CF__SIMD(__vavgu, false, (x + y + 1) >> 1)
CF__SIMD(__vhaddu, false, (x + y) >> 1)
CF__SIMD(__vmaxs, true, cf__greater(x, y))
CF__SIMD(__vmaxu, false, cf__greater(x, y))
CF__SIMD(__vmins, true, cf__lesser(x, y))
CF__SIMD(__vminu, false, cf__lesser(x, y))
CF__SIMD_COMPARISON(eq, false, ==)
CF__SIMD_COMPARISON(ne, false, !=)
CF__SIMD_COMPARISON(ges, true, >=)
CF__SIMD_COMPARISON(geu, false, >=)
CF__SIMD_COMPARISON(gts, true, >)
CF__SIMD_COMPARISON(gtu, false, >)
CF__SIMD_COMPARISON(les, true, <=)
CF__SIMD_COMPARISON(leu, false, <=)
CF__SIMD_COMPARISON(lts, true, <)
CF__SIMD_COMPARISON(ltu, false, <)

/* Returns the sum of the parts of a word. */
template <int bits> CF__FN CF__INLINE unsigned int cf__sum_of_parts(unsigned int word)
{
    unsigned int sum = 0;
    for (int at = 0; at < 32; at += bits)
        sum += (unsigned int)cf__part<bits, false>(word, at);
    return sum;
}

#define CF__SIMD_SUM(name, bits)                                     \
    CF__FN unsigned int __vsad##name(unsigned int a, unsigned int b) \
    {                                                                \
        return cf__sum_of_parts<bits>(__vabsdiff##name(a, b));       \
    }
CF__SIMD_SUM(s2, 16)
CF__SIMD_SUM(u2, 16)
CF__SIMD_SUM(s4, 8)
CF__SIMD_SUM(u4, 8)

/* ---- The greatest and the least of two or three numbers, in words and in halves ---- */

#define CF__EXTREME(name, kind, T, bits, has_sign, of_two)                                           \
    CF__FN T __vi##name##3_##kind(T a, T b, T c)                                                     \
    {                                                                                                \
        return (T)cf__by_parts<bits, has_sign>(                                                      \
            [](long long x, long long y, long long z) { return of_two(of_two(x, y), z); }, a, b, c); \
    }                                                                                                \
    CF__FN T __viadd##name##_##kind(T a, T b, T c)                                                   \
    {                                                                                                \
        return (T)cf__by_parts<bits, has_sign>(                                                      \
            [](long long x, long long y, long long z) {                                              \
                return of_two(cf__part<bits, has_sign>((unsigned long long)(x + y)), z);             \
            },                                                                                       \
            a, b, c);                                                                                \
    }
/* Defines functions that return the greatest or the least number, or 0 if that is negative. */
#define CF__EXTREME_RELU(name, kind, T, bits, of_two)                                                                \
    CF__FN T __vi##name##_##kind##_relu(T a, T b)                                                                    \
    {                                                                                                                \
        return (T)cf__by_parts<bits, true>([](long long x, long long y) { return cf__greater(of_two(x, y), 0); }, a, \
                                           b);                                                                       \
    }                                                                                                                \
    CF__FN T __vi##name##3_##kind##_relu(T a, T b, T c)                                                              \
    {                                                                                                                \
        return __vimax_##kind##_relu(__vi##name##3_##kind(a, b, c), 0);                                              \
    }                                                                                                                \
    CF__FN T __viadd##name##_##kind##_relu(T a, T b, T c)                                                            \
    {                                                                                                                \
        return __vimax_##kind##_relu(__viadd##name##_##kind(a, b, c), 0);                                            \
    }
/* Defines a function that returns the greater or the lesser of two words, and stores if the first one was chosen, as it
 * is for equal words. */
#define CF__EXTREME_OF_WORDS(name, kind, T, operator)       \
    CF__FN T __vib##name##_##kind(T a, T b, bool *is_first) \
    {                                                       \
        *is_first = a operator b;                           \
        return a operator b ? a : b;                        \
    }
#define CF__EXTREME_OF_HALVES(name, kind, has_sign, operator, of_two)                                                 \
    CF__FN unsigned int __vib##name##_##kind(unsigned int a, unsigned int b, bool *is_first_high, bool *is_first_low) \
    {                                                                                                                 \
        *is_first_high = cf__part<16, has_sign>(a, 16) operator cf__part<16, has_sign>(b, 16);                        \
        *is_first_low = cf__part<16, has_sign>(a) operator cf__part<16, has_sign>(b);                                 \
        return cf__by_parts<16, has_sign>(of_two, a, b);                                                              \
    }
#define CF__EXTREMES(name, operator, of_two)                   \
    CF__EXTREME(name, s32, int, 32, true, of_two)              \
    CF__EXTREME(name, u32, unsigned int, 32, false, of_two)    \
    CF__EXTREME(name, s16x2, unsigned int, 16, true, of_two)   \
    CF__EXTREME(name, u16x2, unsigned int, 16, false, of_two)  \
    CF__EXTREME_RELU(name, s32, int, 32, of_two)               \
    CF__EXTREME_RELU(name, s16x2, unsigned int, 16, of_two)    \
    CF__EXTREME_OF_WORDS(name, s32, int, operator)             \
    CF__EXTREME_OF_WORDS(name, u32, unsigned int, operator)    \
    CF__EXTREME_OF_HALVES(name, s16x2, true, operator, of_two) \
    CF__EXTREME_OF_HALVES(name, u16x2, false, operator, of_two)
CF__EXTREMES(max, >=, cf__greater)
CF__EXTREMES(min, <=, cf__lesser)
#undef CF__EXTREME
#undef CF__EXTREMES
#undef CF__EXTREME_OF_HALVES
#undef CF__EXTREME_OF_WORDS
#undef CF__EXTREME_RELU
#undef CF__SIMD
#undef CF__SIMD_COMPARISON
#undef CF__SIMD_OF_ONE
#undef CF__SIMD_SUM

#endif
