/* loops.cu - kernels without barriers, for the comparison with hand-written loops on the CPU, each with three index
 * types. */
#include <stdint.h>

#include "polynomial.h"

#pragma cf kernel grid(n) in(x[n]) inout(y[n])
#pragma cf instances(i32: int; u32: unsigned int; i64: int64_t)
template <typename I> __global__ void saxpy(float a, const float *x, float *y, I n)
{
    I i = (I)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

#pragma cf kernel grid(n) in(x[m], index[n]) out(y[n])
#pragma cf instances(i32: int; u32: unsigned int; i64: int64_t)
template <typename I> __global__ void take(const float *x, const int32_t *index, float *y, I n, I m)
{
    I i = (I)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]];
}

#pragma cf kernel grid(n) in(x[n]) out(y[n])
#pragma cf instances(i32: int; u32: unsigned int; i64: int64_t)
template <typename I> __global__ void polynomial(const float *x, float *y, I n)
{
    I i = (I)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = polynomial_of(x[i]);
}

/* The inner points of a rectangle. */
#pragma cf kernel grid(nx, ny) block(32, 8) in(u[ny][nx]) inout(v[ny][nx])
#pragma cf instances(i32: int; u32: unsigned int; i64: int64_t)
template <typename I> __global__ void stencil_2d(const float *u, float *v, I nx, I ny)
{
    I x = (I)blockIdx.x * blockDim.x + threadIdx.x;
    I y = (I)blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        I at = y * nx + x;
        v[at] = 0.5f * u[at] + 0.125f * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx]);
    }
}

/* The inner points of a box. */
#pragma cf kernel grid(nx, ny, nz) block(32, 4, 2) in(u[nz][ny][nx]) inout(v[nz][ny][nx])
#pragma cf instances(i32: int; u32: unsigned int; i64: int64_t)
template <typename I> __global__ void stencil_3d(const float *u, float *v, I nx, I ny, I nz)
{
    I x = (I)blockIdx.x * blockDim.x + threadIdx.x;
    I y = (I)blockIdx.y * blockDim.y + threadIdx.y;
    I z = (I)blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1 || z < 1 || z >= nz - 1)
        return;
    I plane = nx * ny, at = z * plane + y * nx + x;
    v[at] = 0.4f * u[at] + 0.1f * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] + u[at - plane] + u[at + plane]);
}
