// poly.cu - polynomials of a fixed degree.
#include <stdint.h>

// y[i] = c[0] + c[1] * x[i] + ... + c[DEGREE] * x[i]^DEGREE for n elements.
#pragma cf kernel grid(n) in(c[DEGREE + 1], x[n]) out(y[n])
#pragma cf instances(f32_1: float, 1; f32_3: float, 3; f64_3: double, 3)
template <typename T, int DEGREE> __global__ void horner(const T *c, const T *x, T *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    T sum = c[DEGREE];
    for (int d = DEGREE - 1; d >= 0; d--)
        sum = sum * x[i] + c[d];
    y[i] = sum;
}
