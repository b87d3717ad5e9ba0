/* fp8.cu - 8-bit floats: known values, ties, the ends of the ranges, and every number converted there and back. */
#include <cuda_fp8.h>

#include "expect.h"

template <typename T> static __device__ unsigned bits_of(T x)
{
    return x.__x;
}

template <typename T> static __device__ void check_all(int *wrong, unsigned most)
{
    float last = -1;
    for (unsigned i = 0; i <= most; i++) {
        T x;
        x.__x = (__nv_fp8_storage_t)i;
        const float value = (float)x;
        EXPECT(value > last);
        EXPECT(bits_of(T(value)) == i && bits_of(T((double)-value)) == (i | 0x80));
        EXPECT(bits_of(T((__half)x)) == i && bits_of(T((__nv_bfloat16)x)) == i);
        /* A number in the middle of two others is rounded to the even one. */
        if (last >= 0)
            EXPECT(bits_of(T((last + value) / 2)) == (i & 1 ? i - 1 : i));
        EXPECT((int)x == (int)value && (double)x == value && (bool)x == (i != 0));
        EXPECT((unsigned char)x == (value > 255 ? 255 : (int)value) &&
               (signed char)x == (value > 127 ? 127 : (int)value));
        last = value;
    }
}

__global__ void check(int *wrong)
{
    check_all<__nv_fp8_e4m3>(wrong, 0x7e);
    check_all<__nv_fp8_e5m2>(wrong, 0x7b);
    EXPECT(bits_of(__nv_fp8_e4m3(1.0f)) == 0x38 && bits_of(__nv_fp8_e5m2(1.0f)) == 0x3c);
    EXPECT(bits_of(__nv_fp8_e4m3(-3)) == 0xc4 && bits_of(__nv_fp8_e5m2(48u)) == 0x52);
    EXPECT((float)__nv_fp8_e4m3(1e9) == 448 && (float)__nv_fp8_e5m2(-1e9) == -57344);
    EXPECT(__nv_cvt_float_to_fp8(464, __NV_NOSAT, __NV_E4M3) == 0x7e);
    EXPECT(__nv_cvt_float_to_fp8(465, __NV_NOSAT, __NV_E4M3) == 0x7f);
    EXPECT(__nv_cvt_double_to_fp8(61440, __NV_NOSAT, __NV_E5M2) == 0x7c);
    EXPECT(__nv_cvt_float_to_fp8(1e-9f, __NV_SATFINITE, __NV_E4M3) == 0);

    __nv_fp8_e4m3 none(__half(0.0f) / __half(0.0f));
    EXPECT((none.__x & 0x7f) == 0x7f && (float)none != (float)none && (int)none == 0);
    EXPECT((unsigned char)__nv_fp8_e5m2(-4.0f) == 0 && (short)__nv_fp8_e5m2(40960.0f) == 32767);

    EXPECT(__nv_cvt_halfraw_to_fp8(__half(-3), __NV_NOSAT, __NV_E4M3) == 0xc4);
    EXPECT(__nv_cvt_halfraw_to_fp8(__half(65504), __NV_NOSAT, __NV_E5M2) == 0x7c);
    EXPECT(__nv_cvt_halfraw_to_fp8(__half(65504), __NV_SATFINITE, __NV_E5M2) == 0x7b);
    EXPECT(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16(1e30f), __NV_NOSAT, __NV_E4M3) == 0x7f);
    EXPECT(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16(0.3125f), __NV_SATFINITE, __NV_E5M2) == 0x35);
    EXPECT(__nv_cvt_halfraw2_to_fp8x2(__floats2half2_rn(0.3f, -7), __NV_NOSAT, __NV_E5M2) == 0xc735);
    EXPECT(__nv_cvt_halfraw2_to_fp8x2(__floats2half2_rn(1, 500), __NV_SATFINITE, __NV_E4M3) == 0x7e38);
    EXPECT(__nv_cvt_bfloat16raw2_to_fp8x2(__floats2bfloat162_rn(1, -2), __NV_NOSAT, __NV_E4M3) == 0xc038);
    EXPECT(__nv_cvt_bfloat16raw2_to_fp8x2(__floats2bfloat162_rn(1e30f, 48), __NV_NOSAT, __NV_E5M2) == 0x527c);
    EXPECT(__nv_cvt_fp8_to_halfraw(0xc4, __NV_E4M3).x == 0xc200 &&
           __nv_cvt_fp8_to_halfraw(0x7c, __NV_E5M2).x == 0x7c00);
    const __half2_raw raws = __nv_cvt_fp8x2_to_halfraw2(0xc735, __NV_E5M2);
    EXPECT(raws.x == 0x3500 && raws.y == 0xc700);

    const __nv_fp8x2_e5m2 pair(make_float2(0.3f, -7));
    EXPECT(bits_of(pair) == 0xc735 && ((float2)pair).x == 0.3125f && __high2float((__half2)pair) == -7);
    const __nv_fp8x4_e4m3 four(make_float4(1, -2, 3.3f, 1e9f)),
        same(__floats2half2_rn(1, -2), __floats2half2_rn(3.3f, 500));
    const float4 floats = (float4)four;
    EXPECT(bits_of(four) == 0x7e45c038 && bits_of(same) == bits_of(four));
    EXPECT(floats.x == 1 && floats.y == -2 && floats.z == 3.25f && floats.w == 448);
    EXPECT(sizeof(four) == 4 && alignof(__nv_fp8x4_e4m3) == 4 && alignof(__nv_fp8x2_e4m3) == 2);
}

EXPECT_RUN
