/* float8.cuh - __nv_fp8_e4m3, __nv_fp8_e5m2, their pairs and fours, and their conversions. */
#ifndef CUFERRY_CPU_FLOAT8_CUH
#define CUFERRY_CPU_FLOAT8_CUH

#include <math.h>

#include <cuferry/cpu/types/make_vector.cuh>

#include "bfloat16.cuh"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

typedef enum __nv_saturation_t {
    __NV_NOSAT,
    __NV_SATFINITE,
} __nv_saturation_t;

typedef enum __nv_fp8_interpretation_t {
    __NV_E4M3,
    __NV_E5M2,
} __nv_fp8_interpretation_t;

/* An 8-bit format: bits of the mantissa, bias, code of the largest number, and code of results beyond it. */
template <int MANTISSA, int BIAS, unsigned MOST, unsigned BEYOND> struct cf__float8 {
    static constexpr bool has_infinity = BEYOND != 0x7f;
    static constexpr __nv_fp8_interpretation_t kind = has_infinity ? __NV_E5M2 : __NV_E4M3;

    static float to_float(unsigned char bits)
    {
        const uint32_t rest = bits & 0x7f, sign = (uint32_t)(bits & 0x80) << 24;
        /* A product with this scale replaces the format's bias by that of float. It is right for denormals too. */
        const float scale = cf__cast<float>((uint32_t)(254 - BIAS) << 23);
        uint32_t value = cf__cast<uint32_t>(cf__cast<float>(rest << (23 - MANTISSA)) * scale);
        if (rest > MOST)
            return has_infinity && rest == BEYOND ? cf__cast<float>(0x7f800000 | sign) : NAN;
        return cf__cast<float>(value | sign);
    }

    /* Returns the code of the nearest number; of two equally near ones, that with an even code. */
    static unsigned char from_float(float x, __nv_saturation_t saturation)
    {
        const uint32_t bits = cf__cast<uint32_t>(x), rest = bits & 0x7fffffff;
        if (rest > 0x7f800000)
            return 0x7f;
        const uint32_t least = (uint32_t)(128 - BIAS) << 23; /* the smallest normal number */
        uint32_t value;
        if (rest < least) {
            /* The last bit of this sum has the value of the smallest denormal number. */
            const uint32_t sum = (uint32_t)(151 - BIAS - MANTISSA) << 23;
            value = cf__cast<uint32_t>(cf__cast<float>(rest) + cf__cast<float>(sum)) - sum;
        } else {
            const int shift = 23 - MANTISSA;
            value = (rest - least + (1u << 23) + (1u << (shift - 1)) - 1 + (rest >> shift & 1)) >> shift;
        }
        if (value > MOST)
            value = saturation == __NV_SATFINITE ? MOST : BEYOND;
        return (unsigned char)(value | (bits >> 24 & 0x80));
    }
};

typedef cf__float8<3, 7, 0x7e, 0x7f> cf__e4m3;
typedef cf__float8<2, 15, 0x7b, 0x7c> cf__e5m2;

/* ---- Conversions by their names in CUDA ---- */

CF__FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind)
{
    return kind == __NV_E4M3 ? cf__e4m3::from_float(x, saturation) : cf__e5m2::from_float(x, saturation);
}

CF__FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(cf__float_odd(x), saturation, kind);
}

CF__FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturation,
                                                  __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(__half(x), saturation, kind);
}

CF__FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(__nv_bfloat16(x), saturation, kind);
}

CF__FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(x.x, saturation, kind) |
                                  __nv_cvt_float_to_fp8(x.y, saturation, kind) << 8);
}

CF__FN __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float2_to_fp8x2(make_float2(cf__float_odd(x.x), cf__float_odd(x.y)), saturation, kind);
}

CF__FN __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturation, kind);
}

CF__FN __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x, __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(x)), saturation, kind);
}

CF__FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    return __half(kind == __NV_E4M3 ? cf__e4m3::to_float(x) : cf__e5m2::to_float(x));
}

CF__FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind)
{
    return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x,
            __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

/* ---- Classes ---- */

template <typename Format> struct cf__float8_one {
    __nv_fp8_storage_t __x;

    cf__float8_one() = default;

#define CF__FROM(T)                                                                  \
    explicit cf__float8_one(T x) : __x(Format::from_float((float)x, __NV_SATFINITE)) \
    {                                                                                \
    }
    CF__FROM(__half)
    CF__FROM(__nv_bfloat16)
    CF__FROM(float)
    CF__FROM(short)
    CF__FROM(unsigned short)
    CF__FROM(int)
    CF__FROM(unsigned int)
    CF__FROM(long)
    CF__FROM(unsigned long)
    CF__FROM(long long)
    CF__FROM(unsigned long long)
#undef CF__FROM

    explicit cf__float8_one(double x) : cf__float8_one(cf__float_odd(x))
    {
    }

    explicit operator float() const
    {
        return Format::to_float(__x);
    }

    explicit operator double() const
    {
        return (float)*this;
    }

    explicit operator __half() const
    {
        return __half((float)*this);
    }

    explicit operator __nv_bfloat16() const
    {
        return __nv_bfloat16((float)*this);
    }

    explicit operator bool() const
    {
        return (__x & 0x7f) != 0;
    }

#define CF__TO(T)                            \
    explicit operator T() const              \
    {                                        \
        return cf__saturate<T>((float)*this); \
    }
    CF__TO(char)
    CF__TO(signed char)
    CF__TO(unsigned char)
    CF__TO(short)
    CF__TO(unsigned short)
    CF__TO(int)
    CF__TO(unsigned int)
    CF__TO(long)
    CF__TO(unsigned long)
    CF__TO(long long)
    CF__TO(unsigned long long)
#undef CF__TO
};

template <typename Format> struct alignas(2) cf__float8_pair {
    __nv_fp8x2_storage_t __x;

    cf__float8_pair() = default;

    explicit cf__float8_pair(float2 x) : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, Format::kind))
    {
    }

    explicit cf__float8_pair(double2 x) : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, Format::kind))
    {
    }

    explicit cf__float8_pair(__half2 x) : cf__float8_pair(__half22float2(x))
    {
    }

    explicit cf__float8_pair(__nv_bfloat162 x) : cf__float8_pair(__bfloat1622float2(x))
    {
    }

    explicit operator float2() const
    {
        return make_float2(Format::to_float((unsigned char)__x), Format::to_float((unsigned char)(__x >> 8)));
    }

    explicit operator __half2() const
    {
        return __float22half2_rn((float2)(*this));
    }
};

template <typename Format> struct alignas(4) cf__float8_four {
    typedef cf__float8_pair<Format> cf__pair;
    __nv_fp8x4_storage_t __x;

    cf__float8_four() = default;

    cf__float8_four(cf__pair low, cf__pair high) : __x(low.__x | (__nv_fp8x4_storage_t)high.__x << 16)
    {
    }

    explicit cf__float8_four(__half2 low, __half2 high) : cf__float8_four(cf__pair(low), cf__pair(high))
    {
    }

    explicit cf__float8_four(__nv_bfloat162 low, __nv_bfloat162 high) : cf__float8_four(cf__pair(low), cf__pair(high))
    {
    }

    explicit cf__float8_four(float4 x)
        : cf__float8_four(cf__pair(make_float2(x.x, x.y)), cf__pair(make_float2(x.z, x.w)))
    {
    }

    explicit cf__float8_four(double4 x)
        : cf__float8_four(cf__pair(make_double2(x.x, x.y)), cf__pair(make_double2(x.z, x.w)))
    {
    }

    explicit operator float4() const
    {
        return make_float4(Format::to_float((unsigned char)__x), Format::to_float((unsigned char)(__x >> 8)),
                           Format::to_float((unsigned char)(__x >> 16)), Format::to_float((unsigned char)(__x >> 24)));
    }
};

struct __nv_fp8_e4m3 : cf__float8_one<cf__e4m3> {
    using cf__float8_one::cf__float8_one;
};

struct __nv_fp8x2_e4m3 : cf__float8_pair<cf__e4m3> {
    using cf__float8_pair::cf__float8_pair;
};

struct __nv_fp8x4_e4m3 : cf__float8_four<cf__e4m3> {
    using cf__float8_four::cf__float8_four;
};

struct __nv_fp8_e5m2 : cf__float8_one<cf__e5m2> {
    using cf__float8_one::cf__float8_one;
};

struct __nv_fp8x2_e5m2 : cf__float8_pair<cf__e5m2> {
    using cf__float8_pair::cf__float8_pair;
};

struct __nv_fp8x4_e5m2 : cf__float8_four<cf__e5m2> {
    using cf__float8_four::cf__float8_four;
};

#endif
