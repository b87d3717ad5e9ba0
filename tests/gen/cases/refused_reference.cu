/* refused_reference - a struct passed as in host code; expected: a reference is refused, pass by value. */
#include "declared_types.h"

#pragma cf kernel include("declared_types.h") grid(g.nx) inout(u[g.nx])
__global__ void scale_by_grid(double *u, const grid_t &g)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < g.nx)
        u[i] *= g.step.h;
}
