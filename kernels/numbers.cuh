/* numbers.cuh - arithmetic of all element types: integers wrap, 16-bit floats are computed in float and rounded once */
#ifndef KERNELS_NUMBERS_CUH
#define KERNELS_NUMBERS_CUH

#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* a * x */
__device__ inline float times(float a, float x)
{
    return a * x;
}

__device__ inline double times(double a, double x)
{
    return a * x;
}

__device__ inline int32_t times(int32_t a, int32_t x)
{
    return (int32_t)((uint32_t)a * (uint32_t)x);
}

__device__ inline int64_t times(int64_t a, int64_t x)
{
    return (int64_t)((uint64_t)a * (uint64_t)x);
}

__device__ inline __half times(float a, __half x)
{
    return __float2half(a * __half2float(x));
}

__device__ inline __half times(__half a, __half x)
{
    return __float2half(__half2float(a) * __half2float(x));
}

__device__ inline __nv_bfloat16 times(float a, __nv_bfloat16 x)
{
    return __float2bfloat16(a * __bfloat162float(x));
}

__device__ inline __nv_bfloat16 times(__nv_bfloat16 a, __nv_bfloat16 x)
{
    return __float2bfloat16(__bfloat162float(a) * __bfloat162float(x));
}

/* a * x + y */
__device__ inline float times_plus(float a, float x, float y)
{
    return a * x + y;
}

__device__ inline double times_plus(double a, double x, double y)
{
    return a * x + y;
}

__device__ inline int32_t times_plus(int32_t a, int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)a * (uint32_t)x + (uint32_t)y);
}

__device__ inline int64_t times_plus(int64_t a, int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)a * (uint64_t)x + (uint64_t)y);
}

__device__ inline __half times_plus(float a, __half x, __half y)
{
    return __float2half(a * __half2float(x) + __half2float(y));
}

__device__ inline __nv_bfloat16 times_plus(float a, __nv_bfloat16 x, __nv_bfloat16 y)
{
    return __float2bfloat16(a * __bfloat162float(x) + __bfloat162float(y));
}

#endif
