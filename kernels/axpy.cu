/* axpy - y[i] = a * x[i] + y[i] */
#include <stdint.h>

/* Adds a times x to y, both of n elements. x may be y; else they must not overlap. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n]) bytes(3.0 * n * sizeof(T)) flops(2.0 * n) \
    tolerance(sizeof(T) == 4 ? 1e-6 : 1e-14)
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void axpy(T a, const T *x, T *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
