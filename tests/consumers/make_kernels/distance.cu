// distance.cu - the squared distances between elements of two vectors.
#include <stdint.h>

#include "square.cuh"

/* out[i] = (x[i] - y[index[i]])^2 for n indices into the m elements of y. */
#pragma cf kernel grid(n) in(x[n], y[m], index[n]) out(out[n]) check(0 <= index[:] < m)
__global__ void distance(const float *x, const float *y, const int32_t *index, float *out, int64_t n, int64_t m)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = square(x[i] - y[index[i]]);
}
