/* generic - kernels whose type-generic forms tests/gen/test_generic.py calls, with right and wrong arguments. */
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <stdint.h>

#include "generic_types.h"

/* Two types, decided by two groups of pointers. */
#pragma cf kernel grid(N) in(source[M], index[N]) out(res[N]) check(0 <= index[:] < M)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; f64_i64: double, int64_t)
template <typename T, typename I>
__global__ void gather(const T *source, const I *index, T *res, int64_t N, int64_t M)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        res[i] = source[index[i]];
}

/* A table of types that the instances do not fill. */
#pragma cf kernel grid(n) inout(x[n]) in(k[n])
#pragma cf instances(a: float, int; b: float, int64_t; c: double, short; d: double, signed char)
template <typename T, typename K> __global__ void sparse(T *x, const K *k, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += k[i];
}

/* Structs, vectors, 16-bit floats, complex numbers, and a scalar of the type. */
#pragma cf include("generic_types.h")
#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(f4: float4; pair: pair; h: __half; c64: cuFloatComplex; u8: unsigned char)
template <typename T> __global__ void fill(T *x, T value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

/* Its result is of one type, whatever the elements are. */
#pragma cf kernel grid(1) block(1) in(x[n]) out(count[1])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void tally(const T *x, int64_t *count, int n)
{
    *count = 0;
    for (int i = 0; i < n; i++)
        *count += x[i] > 0;
}

/* Its parameter is called as one of its types. */
#pragma cf kernel grid(n) inout(pair[n])
#pragma cf instances(pair: struct pair; f32: float)
template <typename T> __global__ void turn(T *pair, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        pair[i] = pair[n - 1 - i];
}

/* Two instances have the same types. */
#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(low: float, 0; high: float, 1; wide: double, 0)
template <typename T, int SIDE> __global__ void choose(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += SIDE;
}
