/* open_brace - a brace that is never closed, and a kernel after it. */
#include <math.h>

#pragma cf kernel grid(n) inout(x[n])
__global__ void first(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = NAN;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void second(float *x, int n)
{
    x[threadIdx.x] = n;
}
