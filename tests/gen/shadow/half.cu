/* half.cu - __half, __nv_bfloat16 and their pairs: operators, comparisons with NaN, functions. convert.cu tests the
 * rest. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "expect.h"

#include <cuferry/types.h>

static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && sizeof(cf_half) == 2, "__half");
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4 && alignof(cf_half2) == 4, "__half2");
static_assert(sizeof(__nv_bfloat16) == 2 && sizeof(cf_bfloat16) == 2 && alignof(cf_bfloat16) == 2, "__nv_bfloat16");
static_assert(sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4 && alignof(cf_bfloat162) == 4,
              "__nv_bfloat162");

__global__ void twice(cf_half *x, cf_bfloat16 *y)
{
    x[0] = __hadd(x[0], x[0]);
    y[0] = __hadd(y[0], y[0]);
}

/* Here cf_half is __half, since cuda_fp16.h was included first. */
typedef decltype(static_cast<void (*)(half *, nv_bfloat16 *)>(twice)) proof;

__device__ unsigned int memory;

template <typename T, typename T2> __device__ void check_type(int *wrong, T nan, T2 one_and_nan)
{
    T a = 1.5f, b = 2, c = 0.25;
    EXPECT((float)(a + b) == 3.5f && (float)(a - b) == -0.5f && (float)(a * b) == 3 && (float)(a / b) == 0.75f);
    EXPECT((float)-a == -1.5f && (float)+a == 1.5f && a < b && b > a && a <= a && a >= a && a == a && a != b);
    a += c;
    EXPECT((float)a == 1.75f);
    a -= c;
    a *= b;
    a /= b;
    EXPECT((float)a == 1.5f && (float)a++ == 1.5f && (float)a-- == 2.5f && (float)++a == 2.5f && (float)--a == 1.5f);
    EXPECT((float)__hadd(a, b) == 3.5f && (float)__hsub(a, b) == -0.5f && (float)__hmul(a, b) == 3 &&
           (float)__hdiv(a, b) == 0.75f);
    EXPECT((float)__hfma(a, b, c) == 3.25f && (float)__hneg(a) == -1.5f && (float)__habs(__hneg(a)) == 1.5f);
    EXPECT((float)__hadd_sat(a, b) == 1 && (float)__hmul_sat(c, c) == 0.0625f && (float)__hsub_sat(a, b) == 0);
    EXPECT((float)__hfma_sat(a, b, c) == 1 && (float)__hfma_relu(__hneg(a), b, c) == 0);
    EXPECT((float)__hmin(a, b) == 1.5f && (float)__hmax(a, nan) == 1.5f && __hisnan(__hmax_nan(a, nan)) &&
           __hisnan(__hmin_nan(nan, a)));
    EXPECT(__hlt(a, b) && __hle(a, b) && __hgt(b, a) && __hge(b, a) && __heq(a, a) && __hne(a, b) && !__hisnan(a) &&
           __hisnan(nan));
    EXPECT(!__hlt(nan, a) && !__hle(nan, a) && !__hgt(nan, a) && !__hge(nan, a) && !__heq(nan, nan) && !__hne(nan, a));
    EXPECT(__hltu(nan, a) && __hleu(nan, a) && __hgtu(nan, a) && __hgeu(nan, a) && __hequ(nan, a) && __hneu(nan, a) &&
           nan != nan);
    EXPECT(__hisinf(T(1e30f) * T(1e30f)) == 1 && __hisinf(-(T(1e30f) * T(1e30f))) == -1 && __hisinf(a) == 0);
    EXPECT((float)hsqrt(T(4.0f)) == 2 && (float)hrsqrt(T(4.0f)) == 0.5f && (float)hrcp(T(4.0f)) == 0.25f &&
           (float)hexp(T(0.0f)) == 1);
    EXPECT((float)hfloor(T(-1.5f)) == -2 && (float)hceil(T(1.5f)) == 2 && (float)htrunc(T(-1.5f)) == -1 &&
           (float)hrint(T(2.5f)) == 2);
    EXPECT((float)hlog2(T(8.0f)) == 3 && (float)hexp2(T(3.0f)) == 8 && (float)hlog(T(1.0f)) == 0 &&
           (float)hsin(T(0.0f)) == 0);

    T2 p(T(1.0f), T(2.0f)), q(T(3.0f), T(0.5f));
    EXPECT(__low2float(p + q) == 4 && __high2float(p + q) == 2.5f && __high2float(p * q) == 1 &&
           __low2float(p - q) == -2);
    EXPECT(__high2float(p / q) == 4 && __low2float(-p) == -1 && __high2float(__hfma2(p, q, q)) == 1.5f);
    EXPECT(__low2float(__lowhigh2highlow(p)) == 2 && __low2float(__hlt2(p, q)) == 1 && __high2float(__hlt2(p, q)) == 0);
    EXPECT(!(p < q) && p == p && p != q && __hbeq2(p, p) && !__hblt2(p, q) && __hbne2(p, q) && !__hbequ2(p, q));
    EXPECT(__low2float(__hisnan2(one_and_nan)) == 0 && __high2float(__hisnan2(one_and_nan)) == 1 &&
           __hlt2_mask(p, q) == 0xffff);
    EXPECT(__high2float(__hmax2(p, q)) == 2 && __high2float(__hneg2(p)) == -2 &&
           __low2float(h2sqrt(T2(T(4.0f), T(9.0f)))) == 2);

    T *cell = (T *)(void *)&memory;
    *cell = 1.0f;
    EXPECT((float)atomicAdd(cell, T(2.0f)) == 1 && (float)*cell == 3);
    T2 *cells = (T2 *)(void *)&memory;
    *cells = p;
    atomicAdd(cells, q);
    EXPECT(__low2float(*cells) == 4 && __high2float(*cells) == 2.5f);
}

__global__ void check(int *wrong)
{
    check_type(wrong, __ushort_as_half(0x7e00), __halves2half2(__float2half(1), __ushort_as_half(0x7fff)));
    check_type(wrong, __ushort_as_bfloat16(0x7fc0),
               __halves2bfloat162(__float2bfloat16(1), __ushort_as_bfloat16(0x7fff)));

    half h = __float2half_rn(0.1f);
    EXPECT(__half_as_ushort(h) == 0x2e66 && __half_as_short(__short_as_half(-5)) == -5 &&
           __half2float(h) == 0x1.998p-4f);
    EXPECT(__half2int_rn(__float2half(2.5f)) == 2 && __half2int_ru(__float2half(2.5f)) == 3 &&
           __half2short_rz(CUDART_INF_FP16) == 32767);
    EXPECT((float)__int2half_rn(2049) == 2048 && (float)__int2half_ru(2049) == 2050 &&
           (float)__uint2half_rz(4000000000u) == 65504);
    EXPECT(__half22float2(__floats2half2_rn(1, 2)).y == 2 && __low2float(__float2half2_rn(3)) == 3);
    EXPECT((float)__low2half(__half2half2(h)) == (float)h &&
           (float)__high2half(__lows2half2(__float2half2_rn(1), __float2half2_rn(5))) == 5);
    EXPECT(__high2float(__highs2half2(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4))) == 4);
    EXPECT(__low2float(__high2half2(__floats2half2_rn(1, 2))) == 2 &&
           __high2float(__float22half2_rn(make_float2(1, 7))) == 7);
    EXPECT(__high2float(make_half2(h, __float2half(2))) == 2 && (int)__float2half(-3.7f) == -3 && (bool)h);

    nv_bfloat16 b = __float2bfloat16_rn(0.1f);
    EXPECT(__bfloat16_as_ushort(b) == 0x3dcd && __bfloat162float(b) == 0x1.9ap-4f &&
           __bfloat162int_rd(__float2bfloat16(-2.5f)) == -3);
    EXPECT(__bfloat1622float2(__floats2bfloat162_rn(1, 2)).y == 2 && __low2float(__bfloat162bfloat162(b)) == (float)b);
    EXPECT((float)__ll2bfloat16_rn(0x101000000000001) == 0x1.02p56f && (float)__int2bfloat16_rz(-257) == -256);
    EXPECT((float)nv_bfloat16(__float2half(1.5f)) == 1.5f && (float)half(__float2bfloat16(2.5f)) == 2.5f);
    EXPECT((float)__low2bfloat16(__floats2bfloat162_rn(1, 2)) == 1 && __bfloat162float(CUDART_ONE_BF16) == 1);
}

EXPECT_RUN
