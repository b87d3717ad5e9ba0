// axpy.cu - adds a multiple of a vector to another vector.
#include <stdint.h>

/* y[i] += SCALE * a * x[i] for n elements. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void axpy(T a, const T *x, T *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += SCALE * a * x[i];
}
