/* open_header - a brace that a header leaves open. */
#include "open_header.h"

#pragma cf kernel grid(n) inout(x[n])
__global__ void first(float *x, int n)
{
    x[threadIdx.x] = half_of(x[threadIdx.x]);
}
