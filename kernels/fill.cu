/* fill - y[i] = value, and copy - y[i] = x[i] */
#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "stream.cuh"

/* Sets n elements of y to value. 16-bit floats take a float, which is rounded to the nearest. */
#pragma cf kernel grid(n) items(16 / sizeof(T)) host(grid(n)) out(y[n]) split(n) bytes(1.0 * n * sizeof(T)) flops(0)
#pragma cf instances(f32: float, float; f64: double, double; i32: int32_t, int32_t; i64: int64_t, int64_t; \
    f16: __half, float; bf16: __nv_bfloat16, float)
template <typename T, typename A> __global__ void fill(A value, T *y, int64_t n)
{
#ifdef __CUDA_ARCH__
    stream_map(n, y, [value]() { return (T)value; });
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (T)value;
#endif
}

/* Copies n elements of x to y. They must not overlap; the plain call checks it. */
#pragma cf kernel grid(n) items(PIECES * 16 / sizeof(T)) tune(PIECES: 1, 2) host(grid(n)) in(x[n]) out(y[n]) split(n) \
    bytes(2.0 * n * sizeof(T)) flops(0)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t; f16: __half; bf16: __nv_bfloat16)
template <typename T, int PIECES> __global__ void copy(const T *__restrict__ x, T *__restrict__ y, int64_t n)
{
#ifdef __CUDA_ARCH__
    stream_map<PIECES>(n, y, [](T element) { return element; }, x);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
#endif
}
