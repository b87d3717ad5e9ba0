/* multiply - z[i] = x[i] * y[i], and scale - y[i] = a * x[i] */
#include <stdint.h>

#include "numbers.cuh"
#include "stream.cuh"

/* Multiplies x and y element by element into z, all of n elements. x and y may overlap. z may be x or y; otherwise
 * it must overlap neither, which the plain call checks. Integers wrap; products of 16-bit floats are rounded once. */
#pragma cf kernel grid(n) items(16 / sizeof(T)) host(grid(n)) in(x[n], y[n]) out(z[n]) split(n) inplace(x, y, z) \
    bytes(3.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t; f16: __half; bf16: __nv_bfloat16)
template <typename T> __global__ void multiply(const T *x, const T *y, T *z, int64_t n)
{
#ifdef __CUDA_ARCH__
    stream_map(n, z, [](T of_x, T of_y) { return times(of_x, of_y); }, x, y);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = times(x[i], y[i]);
#endif
}

/* Sets y to a times x, both of n elements. x may be y; otherwise they must not overlap, which the plain call checks.
 * Integers wrap. With 16-bit floats a is a float, and each product is rounded once. */
#pragma cf kernel grid(n) items(16 / sizeof(T)) host(grid(n)) in(x[n]) out(y[n]) split(n) inplace(x, y) \
    bytes(2.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float, float; f64: double, double; i32: int32_t, int32_t; i64: int64_t, int64_t; \
    f16: __half, float; bf16: __nv_bfloat16, float)
template <typename T, typename A> __global__ void scale(A a, const T *x, T *y, int64_t n)
{
#ifdef __CUDA_ARCH__
    stream_map(n, y, [a](T of_x) { return times(a, of_x); }, x);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = times(a, x[i]);
#endif
}
