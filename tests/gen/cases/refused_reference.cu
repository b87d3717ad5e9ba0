/* refused_reference - a struct passed as in host code; expected: a reference is refused, pass by value. */
#include "real_types.h"

#pragma cf kernel include("real_types.h") grid(m.nx) inout(u[m.nx])
__global__ void scale_by_mesh(double *u, const mesh &m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m.nx)
        u[i] *= m.spacing[0];
}
