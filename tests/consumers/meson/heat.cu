#include "weight.h"

/* One step of heat flow along a rod. The ends of the rod keep their values. */
#pragma cf kernel grid(n) in(u[n]) inout(v[n]) check(n > 2)
__global__ void step(const double *__restrict__ u, double *__restrict__ v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        v[i] = u[i] + WEIGHT * (u[i - 1] - 2 * u[i] + u[i + 1]);
}
