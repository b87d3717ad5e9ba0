// Types of data are those of #pragma cf include and of include(...), wherever it stands.
#include "declared_types.h"

__constant__ struct body sun;
__constant__ box limits[2];
__device__ body moved[4];
__device__ const grid_t whole = {};

#pragma cf kernel grid(n) inout(x[n])
__global__ void pull(real *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += sun.mass + limits[1].low.x + moved[3].mass + whole.nx;
}

#pragma cf include("declared_types.h")
