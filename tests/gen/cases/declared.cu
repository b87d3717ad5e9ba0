/* declared - every type that a kernel can share with C, in the forms of real code. */
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#include "declared_types.h"

#pragma cf include("declared_types.h")

#define LANES 4
#define ELEMENTS(of) (of.nx * of.ny)
constexpr int WIDTH = 8 * LANES, HEIGHT = 1 << 2;

enum { TILE = WIDTH / 2 };

/* A struct by value, with extents that are its members. */
#pragma cf kernel grid(g.nx, g.ny) block(TILE, HEIGHT) in(u[g.ny][g.nx]) inout(v[ELEMENTS(g)]) \
    check(g.halo[1] >= 1, b.low.x < b.high.x)
__global__ void __launch_bounds__(WIDTH * HEIGHT) relax(const real *__restrict__ u, real *v, const grid_t g, struct box b)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < g.nx && y < g.ny)
        v[y * g.nx + x] = g.step.h * u[y * g.nx + x] + b.low.x;
}

#pragma cf kernel grid(n) inout(bodies[n])
extern "C" __global__ void move(body *bodies, float4 by, enum color paint, const int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bodies[i].mass += by.x + paint;
}

namespace mix {
typedef unsigned int index_t;
using half_t = __half;

#pragma cf kernel grid(n) in(h[n], b[n], c[n], z[n]) out(flags[n])
__global__ void narrow(const half_t *h, const __nv_bfloat16 *b, cuFloatComplex const *c, const cuDoubleComplex z[], bool *flags,
                       index_t n, char mode, dim3 size)
{
    index_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        flags[i] = mode == 0 && size.x > 0;
}
}

/* Pointers of every depth; none but rows has an extent. */
#pragma cf kernel grid(n) in(rows[n]) resident(flag, raw, table)
__global__ static void rows(float *const *rows, volatile int *flag, void *raw, const void *const *table, const long long n)
{
    if (n > 0)
        *flag = raw == table;
}

#pragma cf kernel grid(n) in(a[n]) out(b[n])
#pragma cf instances(i2: int2, LANES; body: body, WIDTH - 1)
template <typename T, int SCALE = TILE> __global__ void copy(const T *a, T *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n * (SCALE > 0))
        b[i] = a[i];
}
