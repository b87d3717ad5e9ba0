/* vectors.cu - vector types, their alignment, make_ functions, dim3, and that cf_float4 is the type float4. */
#include "expect.h"

#include <cuferry/types.h>

template <typename A, typename B> struct same {
    static const bool value = false;
};

template <typename A> struct same<A, A> {
    static const bool value = true;
};

#define ALIGNED(type, size, alignment)                                                  \
    static_assert(sizeof(type) == size && alignof(type) == alignment, #type);           \
    static_assert(sizeof(cf_##type) == size && alignof(cf_##type) == alignment, #type); \
    static_assert(same<type, cf_##type>::value, #type)
ALIGNED(char1, 1, 1);
ALIGNED(uchar2, 2, 2);
ALIGNED(char3, 3, 1);
ALIGNED(uchar4, 4, 4);
ALIGNED(short2, 4, 4);
ALIGNED(ushort3, 6, 2);
ALIGNED(short4, 8, 8);
ALIGNED(int2, 8, 8);
ALIGNED(uint3, 12, 4);
ALIGNED(int4, 16, 16);
ALIGNED(long2, 16, 16);
ALIGNED(ulong3, 24, 8);
ALIGNED(longlong2, 16, 16);
ALIGNED(float2, 8, 8);
ALIGNED(float3, 12, 4);
ALIGNED(float4, 16, 16);
ALIGNED(double2, 16, 16);
ALIGNED(double3, 24, 8);
#if CUDART_VERSION >= 13000
ALIGNED(double4_16a, 32, 16);
ALIGNED(double4_32a, 32, 32);
ALIGNED(long4_16a, 32, 16);
ALIGNED(ulonglong4_32a, 32, 32);
#endif

__global__ void scale(const float4 *x, cf_float4 *y, float3 factor)
{
    y[0] = make_float4(x[0].x * factor.x, x[0].y * factor.y, x[0].z * factor.z, x[0].w);
}

/* The same proof as in generated code: the function has exactly these types. */
typedef decltype(static_cast<void (*)(const float4 *, float4 *, float3)>(scale)) proof;
typedef decltype(static_cast<void (*)(const cf_float4 *, cf_float4 *, cf_float3)>(scale)) proof_in_c;

struct __align__(16) padded
{
    float3 x;
};
struct __builtin_align__(8) small
{
    int x;
};
static_assert(sizeof(padded) == 16 && alignof(small) == 8, "alignment by CUDA's words");

__constant__ float table[2] = {1, 2};
__device__ __noinline__ float first(const float *__restrict__ x)
{
    return x[0];
}
static __device__ __forceinline__ int lane(int thread)
{
    return thread % warpSize;
}

__device__ unsigned int volume(dim3 size)
{
    return size.x * size.y * size.z;
}

__global__ void __launch_bounds__(256, 2) bounded(const __grid_constant__ int n, int *x)
{
    x[0] = n;
}

static __attribute__((noinline)) __global__ void apart(int *x)
{
    x[0] = 7;
}

__global__ void check(int *wrong)
{
    EXPECT(make_int2(3, 4).y == 4 && make_char3(1, 2, -3).z == -3 && make_ulonglong1(7).x == 7);
    EXPECT(make_uchar4(1, 2, 3, 255).w == 255 && make_double3(1, 2, 3).z == 3 && make_ushort2(1, 65535).y == 65535);
#if CUDART_VERSION >= 13000
    EXPECT(make_double4_32a(1, 2, 3, 4).w == 4 && make_long4_16a(1, 2, 3, 4).z == 3);
#endif
    dim3 grid(5), copied = blockDim;
    uint3 plain = dim3(1, 2, 3);
    EXPECT(grid.x == 5 && grid.y == 1 && grid.z == 1 && plain.z == 3 && volume(plain) == 6 && volume(copied) == 1);
    EXPECT(volume(2) == 2 && volume({2, 3, 4}) == 24);
    EXPECT(blockIdx.x == 0 && threadIdx.x == 0 && gridDim.x == 1 && lane(33) == 1 && table[1] == 2 &&
           first(table) == 1);
    float4 x = {1, 2, 3, 4}, y = x;
    y.x = 2 * x.w;
    EXPECT(y.x == 8 && x.x == 1);
#if !defined __NVCC__ /* nvcc would need <<<>>> for this */
    int seven;
    apart(&seven);
    EXPECT(seven == 7);
#endif
}

EXPECT_RUN
