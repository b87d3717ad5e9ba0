/* diffusion.cu - one step of the heat equation on a grid of ny rows of nx points. */
#include <stdint.h>

#include "stencil.h"

/* The points on the edge keep their values. */
#pragma cf kernel grid(nx, ny) block(32, 8) in(u[ny][nx]) out(v[ny][nx]) check(nx >= 2, ny >= 2)
extern "C" __global__ void step(const double *u, double *v, int32_t nx, int32_t ny)
{
    int32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    int64_t at = (int64_t)y * nx + x;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
        v[at] = STENCIL(u, at, nx);
    else
        v[at] = u[at];
}

/* Advances u by two steps; two_steps.c contains its launches. */
#pragma cf operation inout(u[ny][nx]) scratch(v[ny][nx]) uses(step)
void two_steps(double *u, double *v, int32_t nx, int32_t ny);
