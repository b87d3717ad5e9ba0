/* math.cu - min and max of every pair of types, CUDA's own functions, conversions with every rounding mode. */
#include "expect.h"

#include <math_constants.h>

template <typename A, typename B> struct same {
    static const bool value = false;
};

template <typename A> struct same<A, A> {
    static const bool value = true;
};

#define TYPE(expression, type) static_assert(same<decltype(expression), type>::value, #expression)
TYPE(min(1, 2), int);
TYPE(min(1u, 2), unsigned int);
TYPE(max(1, 2u), unsigned int);
TYPE(max(1ll, 2ll), long long);
TYPE(min(1ull, 2ll), unsigned long long);
TYPE(min(1l, 2ul), unsigned long);
TYPE(min(1.0f, 2.0f), float);
TYPE(max(1.0f, 2.0), double);
TYPE(min((short)1, (short)2), int);
TYPE(rsqrt(1.0f), float);
TYPE(rsqrt(1.0), double);
TYPE(sqrt(1.0f), float);
TYPE(exp10(1.0f), float);
TYPE(cospi(1.0f), float);

__device__ bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(1.0, fabs(b));
}

__device__ bool is(float a, float b)
{
    return __float_as_int(a) == __float_as_int(b);
}

__device__ void check_functions(int *wrong, volatile float *z)
{
    const float zero = *z, nan = CUDART_NAN_F + zero;
    EXPECT(min(3 + (int)zero, -1) == -1 && max(-1 + (int)zero, 1u) == 0xffffffff && max(2ll, 3ll) == 3);
    EXPECT(min(2.0f + zero, nan) == 2 && min(nan, 2.0f) == 2 && max(nan, -2.0f) == -2 && fminf(nan, 1) == 1);
    EXPECT(umin(1, 2) == 1 && llmax(-1, 1) == 1 && ullmin(1, 2) == 1);
    EXPECT(near(rsqrtf(4 + zero), 0.5) && near(rsqrt(16.0 + zero), 0.25) && near(rcbrt(8.0 + zero), 0.5));
    EXPECT(sinpi(1.0 + zero) == 0 && sinpi(0.5 + zero) == 1 && sinpi(1.5 + zero) == -1 &&
           near(sinpi(0.25f + zero), sqrt(0.5)));
    EXPECT(cospi(1.0 + zero) == -1 && cospi(0.5 + zero) == 0 && cospif(2 + zero) == 1 &&
           near(cospi(-0.75 + zero), -sqrt(0.5)));
    EXPECT(sinpi(1e15 + 0.5 + zero) == 1 && cospi(1e300 + zero) == 1 && cospi(123456789.5 + zero) == 0);
    EXPECT(isnan(sinpi(CUDART_INF + zero)) && isnan(cospi(CUDART_INF_F + zero)) &&
           near(sinpi(-3.3 + zero), sin(0.3 * CUDART_PI)));
    float sine, cosine;
    sincosf(1 + zero, &sine, &cosine);
    EXPECT(near(sine, sin(1.0)) && near(cosine, cos(1.0)));
    sincospif(0.5f + zero, &sine, &cosine);
    EXPECT(sine == 1 && cosine == 0);
    __sincosf(0.5f + zero, &sine, &cosine);
    EXPECT(near(sine, sin(0.5)) && near(cosine, cos(0.5)));
    double sine2, cosine2;
    sincos(2.0 + zero, &sine2, &cosine2);
    EXPECT(near(sine2, sin(2.0)) && near(cosine2, cos(2.0)));
    sincospi(0.25 + zero, &sine2, &cosine2);
    EXPECT(near(sine2, sqrt(0.5)) && near(cosine2, sqrt(0.5)));
    EXPECT(near(normcdf(0.0 + zero), 0.5) && near(normcdff(1.0f + zero), 0.8413447) && near(normcdf(-30.0 + zero), 0));
    const double vector[3] = {2, 3, 6};
    EXPECT(near(norm3d(2.0 + zero, 3, 6), 7) && near(rnorm3df(2 + zero, 3, 6), 1.0 / 7) && near(norm(3, vector), 7));
    EXPECT(near(norm4df(1 + zero, 1, 1, 1), 2) && near(rhypot(3.0 + zero, 4), 0.2) &&
           near(rnorm4d(1 + zero, 1, 1, 1), 0.5));
    EXPECT(near(exp10f(2 + zero), 100) && near(exp2f(3 + zero), 8) && fmaf(2, 3, 4 + zero) == 10 &&
           near(cbrtf(27 + zero), 3));
    EXPECT(fabs(__expf(1 + zero) - 2.7182818f) < 1e-4f && fabs(__logf(10 + zero) - 2.302585f) < 1e-4f);
    EXPECT(fabs(__powf(2 + zero, 10) - 1024) < 1 && fabs(__sinf(1 + zero) - 0.841471f) < 1e-4f);
    EXPECT(fabs(__cosf(1 + zero) - 0.540302f) < 1e-4f && fabs(__tanf(1 + zero) - 1.557408f) < 1e-4f);
    EXPECT(fabs(__log2f(8 + zero) - 3) < 1e-4f && fabs(__log10f(100 + zero) - 2) < 1e-4f &&
           fabs(__exp10f(1 + zero) - 10) < 1e-3f);
    EXPECT(__fdividef(1, 1.7e38f + zero) == 0 && __fdividef(1, -8.6e37f + zero) == 0);
    EXPECT(__fdividef(1, 8.5e37f + zero) > 0 && isnan(__fdividef(CUDART_INF_F + zero, 1.7e38f)));
    EXPECT(near(__fdividef(1 + zero, 4), 0.25) && near(fdividef(1 + zero, 4), 0.25));
    EXPECT(__saturatef(2 + zero) == 1 && __saturatef(-1 + zero) == 0 && __saturatef(0.25f + zero) == 0.25f &&
           __saturatef(nan) == 0);
    EXPECT(isnan(nan) && isinf(CUDART_INF_F + zero) && signbit(-1.0f + zero) && abs(-2 + (int)zero) == 2 &&
           abs(-2.5f + zero) == 2.5f);
    EXPECT(is(CUDART_PI_F, 3.14159265358979f) && CUDART_PI == 3.14159265358979323846 &&
           is(CUDART_SQRT_TWO_F, 1.41421356f));
    EXPECT(CUDART_LNT == 2.30258509299404568402 && CUDART_MAX_NORMAL_F == 0x1.fffffep127f && CUDART_NEG_ZERO_F == 0);
    EXPECT(CUDART_MIN_DENORM_F > 0 && CUDART_MIN_DENORM_F / 2 == 0 && is(CUDART_2_OVER_PI_F, 0.636619772367f));
}

__device__ void check_rounding(int *wrong, volatile float *z)
{
    const float zero = *z, tiny = 0x1p-60f + zero, next = 1 + 0x1p-23f, before = 1 - 0x1p-24f;
    EXPECT(__fadd_rn(1, tiny) == 1 && __fadd_ru(1, tiny) == next && __fadd_rd(1, tiny) == 1 && __fadd_rz(1, tiny) == 1);
    EXPECT(__fsub_rn(1, tiny) == 1 && __fsub_ru(1, tiny) == 1 && __fsub_rd(1, tiny) == before &&
           __fsub_rz(1, tiny) == before);
    EXPECT(__fadd_rz(-1, -tiny) == -1 && __fadd_rd(-1, -tiny) == -next && __fadd_ru(-1, -tiny) == -1);
    EXPECT(__fmul_rz(next + zero, next) == 1 + 0x1p-22f && __fmul_ru(next + zero, next) == 1 + 0x1.8p-22f);
    EXPECT(__fdiv_ru(1 + zero, 3) > __fdiv_rd(1 + zero, 3) && __fdiv_rd(6 + zero, 3) == 2 &&
           __fdiv_ru(6 + zero, 3) == 2);
    EXPECT(__frcp_rz(3 + zero) == __fdiv_rd(1 + zero, 3) && __frcp_rn(4 + zero) == 0.25f &&
           __frcp_ru(4 + zero) == 0.25f);
    EXPECT(__fsqrt_ru(2 + zero) > __fsqrt_rd(2 + zero) && __fsqrt_rd(9 + zero) == 3 && __fsqrt_rn(16 + zero) == 4);
    EXPECT(__frsqrt_rn(4 + zero) == 0.5f);
    EXPECT(__fmaf_rn(next, next + zero, -1 - 0x1p-22f) == 0x1p-46f && __fmaf_rd(1, 1, -tiny) == before);
    EXPECT(__fmaf_ru(1, 1, tiny) == next && __fmaf_rz(3.0f + zero, 2, 1) == 7);
    EXPECT(__fadd_rn(__fmul_rn(next, next + zero), -1 - 0x1p-22f) == 0);
    EXPECT(__dadd_rn(__dmul_rn(1 + 0x1p-52, 1 + 0x1p-52 + zero), -1 - 0x1p-51) == 0);
    EXPECT(__fma_rn(1 + 0x1p-52, 1 + 0x1p-52 + zero, -1 - 0x1p-51) == 0x1p-104);
    EXPECT(__ddiv_rn(1 + zero, 4) == 0.25 && __dsqrt_rn(9 + zero) == 3 && __drcp_rn(8 + zero) == 0.125 &&
           __dsub_rn(3, 1 + zero) == 2);
    EXPECT(__double2float_rn(0.1 + zero) == 0.1f && __double2float_ru(0.1 + zero) == 0.1f &&
           __double2float_rd(0.1 + zero) < 0.1f);
    EXPECT(__double2float_rz(-0.1 + zero) > -0.1f && __double2float_rz(1e300 + zero) == 0x1.fffffep127f);
    EXPECT(__double2float_ru(1e300 + zero) > 0x1.fffffep127f &&
           __double2float_ru(1e-300 + zero) == CUDART_MIN_DENORM_F);

    EXPECT(__float2int_rn(2.5f + zero) == 2 && __float2int_rn(3.5f + zero) == 4 && __float2int_rz(-2.9f + zero) == -2);
    EXPECT(__float2int_ru(2.1f + zero) == 3 && __float2int_rd(-2.1f + zero) == -3 &&
           __float2int_rn(1e20f + zero) == 0x7fffffff);
    EXPECT(__float2int_rz(-1e20f + zero) == (int)0x80000000 && __float2int_rz(CUDART_NAN_F + zero) == 0);
    EXPECT(__float2uint_rz(-1 + zero) == 0 && __float2uint_rn(4e9f + zero) == 4000000000u &&
           __float2uint_rz(1e20f + zero) == ~0u);
    EXPECT(__float2ll_rz(1e10f + zero) == 10000000000 && __float2ull_rz(1e30f + zero) == ~0ull);
    EXPECT(__double2int_rn(2.5 + zero) == 2 && __double2ll_rd(-0.5 + zero) == -1 && __double2uint_ru(0.5 + zero) == 1);
    EXPECT(__double2ll_rz(1e30 + zero) == 0x7fffffffffffffff && __double2ull_rz(1.5 + zero) == 1);
    EXPECT(__int2float_rn(16777217 + (int)zero) == 16777216 && __int2float_ru(16777217 + (int)zero) == 16777218);
    EXPECT(__int2float_rz(-16777217 + (int)zero) == -16777216 &&
           __uint2float_rd(0xffffffff - (int)zero) == 0x1.fffffep31f);
    EXPECT(__ll2float_ru(0x4000000000000001 + (int)zero) == 0x1.000002p62f &&
           __ll2float_rd(0x4000000000000001 + (int)zero) == 0x1p62f);
    EXPECT(__ull2float_rz(~0ull - (int)zero) == 0x1.fffffep63f && __int2double_rn(-3 + (int)zero) == -3);
    EXPECT(__ull2double_rn(~0ull - (int)zero) == 0x1p64 && __ll2double_rn(5) == 5 && __uint2double_rn(7) == 7);
}

__global__ void check(int *wrong)
{
    volatile float zero = 0; /* keeps the compiler from evaluating the calls */
    check_functions(wrong, &zero);
    check_rounding(wrong, &zero);
}

EXPECT_RUN
