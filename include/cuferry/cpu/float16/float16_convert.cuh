/* float16_convert.cuh - conversions of a 16-bit float; see float16_type.cuh. It uses one more name:
 *
 *     CF__F16_WORD   half   the word in names such as __float2half() */

#define CF__PASTE2(before, word, after) before##word##after
#define CF__PASTE1(before, word, after) CF__PASTE2(before, word, after)
#define CF__NAME(before, after) CF__PASTE1(before, CF__F16_WORD, after)
#define CF__TWICE(word) __##word##2##word##2
#define CF__NAME_TWICE(word) CF__TWICE(word)

/* ---- float, double ---- */

CF__FN CF__F16 CF__NAME(__float2, )(float x)
{
    return x;
}

CF__FN CF__F16 CF__NAME(__float2, _rn)(float x)
{
    return x;
}

CF__FN CF__F16 CF__NAME(__float2, _rz)(float x)
{
    return CF__F16_RAW{cf__round_to_zero<CF__F16_FORMAT>(x)};
}

CF__FN CF__F16 CF__NAME(__float2, _ru)(float x)
{
    return CF__F16_RAW{cf__round_up<CF__F16_FORMAT>(x)};
}

CF__FN CF__F16 CF__NAME(__float2, _rd)(float x)
{
    return CF__F16_RAW{cf__round_down<CF__F16_FORMAT>(x)};
}

CF__FN CF__F16 CF__NAME(__double2, )(double x)
{
    return x;
}

CF__FN float CF__NAME(__, 2float)(CF__F16 x)
{
    return x;
}

/* ---- Bits ---- */

CF__FN short CF__NAME(__, _as_short)(CF__F16 x)
{
    return (short)x.cf__bits;
}

CF__FN unsigned short CF__NAME(__, _as_ushort)(CF__F16 x)
{
    return x.cf__bits;
}

CF__FN CF__F16 CF__NAME(__short_as_, )(short bits)
{
    return CF__F16_RAW{(unsigned short)bits};
}

CF__FN CF__F16 CF__NAME(__ushort_as_, )(unsigned short bits)
{
    return CF__F16_RAW{bits};
}

/* ---- Integers ---- */

#define CF__FROM(word, T, odd)                                 \
    CF__FN CF__F16 CF__NAME(__##word##2, _rn)(T x)             \
    {                                                          \
        return x;                                              \
    }                                                          \
    CF__FN CF__F16 CF__NAME(__##word##2, _rz)(T x)             \
    {                                                          \
        return CF__NAME(__float2, _rz)(cf__float_odd(odd(x))); \
    }                                                          \
    CF__FN CF__F16 CF__NAME(__##word##2, _ru)(T x)             \
    {                                                          \
        return CF__NAME(__float2, _ru)(cf__float_odd(odd(x))); \
    }                                                          \
    CF__FN CF__F16 CF__NAME(__##word##2, _rd)(T x)             \
    {                                                          \
        return CF__NAME(__float2, _rd)(cf__float_odd(odd(x))); \
    }
CF__FROM(short, short, )
CF__FROM(ushort, unsigned short, )
CF__FROM(int, int, )
CF__FROM(uint, unsigned int, )
CF__FROM(ll, long long, cf__integer_odd)
CF__FROM(ull, unsigned long long, cf__integer_odd)
#undef CF__FROM

#define CF__TO(word, T)                            \
    CF__FN T CF__NAME(__, 2##word##_rz)(CF__F16 x) \
    {                                              \
        return cf__saturate<T>((float)x);           \
    }
#define CF__TO_ALL(word, T)                         \
    CF__TO(word, T)                                 \
    CF__FN T CF__NAME(__, 2##word##_rn)(CF__F16 x)  \
    {                                               \
        return cf__saturate<T>(__builtin_rintf(x));  \
    }                                               \
    CF__FN T CF__NAME(__, 2##word##_ru)(CF__F16 x)  \
    {                                               \
        return cf__saturate<T>(__builtin_ceilf(x));  \
    }                                               \
    CF__FN T CF__NAME(__, 2##word##_rd)(CF__F16 x)  \
    {                                               \
        return cf__saturate<T>(__builtin_floorf(x)); \
    }
CF__TO(char, signed char)
CF__TO(uchar, unsigned char)
CF__TO_ALL(short, short)
CF__TO_ALL(ushort, unsigned short)
CF__TO_ALL(int, int)
CF__TO_ALL(uint, unsigned int)
CF__TO_ALL(ll, long long)
CF__TO_ALL(ull, unsigned long long)
#undef CF__TO_ALL
#undef CF__TO

/* ---- Pairs ---- */

CF__FN CF__F16X2 CF__NAME(__halves2, 2)(CF__F16 low, CF__F16 high)
{
    return {low, high};
}

CF__FN CF__F16X2 CF__NAME(make_, 2)(CF__F16 x, CF__F16 y)
{
    return {x, y};
}

CF__FN CF__F16X2 CF__NAME_TWICE(CF__F16_WORD)(CF__F16 x)
{
    return {x, x};
}

CF__FN CF__F16X2 CF__NAME(__float2, 2_rn)(float x)
{
    return {x, x};
}

CF__FN CF__F16X2 CF__NAME(__floats2, 2_rn)(float low, float high)
{
    return {low, high};
}

CF__FN CF__F16X2 CF__NAME(__float22, 2_rn)(float2 pair)
{
    return {pair.x, pair.y};
}

CF__FN float2 CF__NAME(__, 22float2)(CF__F16X2 pair)
{
    return {pair.x, pair.y};
}

CF__FN float __low2float(CF__F16X2 pair)
{
    return pair.x;
}

CF__FN float __high2float(CF__F16X2 pair)
{
    return pair.y;
}

CF__FN CF__F16 CF__NAME(__low2, )(CF__F16X2 pair)
{
    return pair.x;
}

CF__FN CF__F16 CF__NAME(__high2, )(CF__F16X2 pair)
{
    return pair.y;
}

CF__FN CF__F16X2 CF__NAME(__low2, 2)(CF__F16X2 pair)
{
    return {pair.x, pair.x};
}

CF__FN CF__F16X2 CF__NAME(__high2, 2)(CF__F16X2 pair)
{
    return {pair.y, pair.y};
}

CF__FN CF__F16X2 CF__NAME(__lows2, 2)(CF__F16X2 a, CF__F16X2 b)
{
    return {a.x, b.x};
}

CF__FN CF__F16X2 CF__NAME(__highs2, 2)(CF__F16X2 a, CF__F16X2 b)
{
    return {a.y, b.y};
}

CF__FN CF__F16X2 __lowhigh2highlow(CF__F16X2 pair)
{
    return {pair.y, pair.x};
}

#undef CF__NAME
#undef CF__NAME_TWICE
#undef CF__TWICE
#undef CF__PASTE1
#undef CF__PASTE2
