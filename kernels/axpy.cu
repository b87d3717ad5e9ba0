/* axpy - y[i] = a * x[i] + y[i], and w[i] = a * x[i] + y[i] */
#include <stdint.h>

#include "numbers.cuh"
#include "stream.cuh"

/* Adds a times x to y, both of n elements. x may be y; otherwise they must not overlap, which the plain call checks.
 * Integers wrap. With 16-bit floats a is a float, and each sum is rounded once, from float. */
#pragma cf kernel grid(n) items(16 / sizeof(T)) host(grid(n)) in(x[n]) inout(y[n]) split(n) inplace(x, y) \
    bytes(3.0 * n * sizeof(T)) flops(2.0 * n) \
    tolerance(is_integral(T) ? 0 : sizeof(T) == 8 ? 1e-14 : sizeof(T) == 4 ? 1e-6 : 8e-3)
#pragma cf instances(f32: float, float; f64: double, double; i32: int32_t, int32_t; i64: int64_t, int64_t; \
    f16: __half, float; bf16: __nv_bfloat16, float)
template <typename T, typename A> __global__ void axpy(A a, const T *x, T *y, int64_t n)
{
#ifdef __CUDA_ARCH__
    stream_map(n, y, [a](T of_x, T of_y) { return times_plus(a, of_x, of_y); }, x, (const T *)y);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = times_plus(a, x[i], y[i]);
#endif
}

/* Sets w to a times x plus y, all of n elements: axpy that keeps y. x and y may overlap. w may be x or y; otherwise
 * it must overlap neither, which the plain call checks. Numbers are as in axpy. */
#pragma cf kernel grid(n) items(16 / sizeof(T)) host(grid(n)) in(x[n], y[n]) out(w[n]) split(n) inplace(x, y, w) \
    bytes(3.0 * n * sizeof(T)) flops(2.0 * n) \
    tolerance(is_integral(T) ? 0 : sizeof(T) == 8 ? 1e-14 : sizeof(T) == 4 ? 1e-6 : 8e-3)
#pragma cf instances(f32: float, float; f64: double, double; i32: int32_t, int32_t; i64: int64_t, int64_t; \
    f16: __half, float; bf16: __nv_bfloat16, float)
template <typename T, typename A> __global__ void waxpy(A a, const T *x, const T *y, T *w, int64_t n)
{
#ifdef __CUDA_ARCH__
    stream_map(n, w, [a](T of_x, T of_y) { return times_plus(a, of_x, of_y); }, x, y);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        w[i] = times_plus(a, x[i], y[i]);
#endif
}
