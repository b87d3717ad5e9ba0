/* run.cu - kernels with every kind of argument, which test_run.py loads and runs with cf-run. */
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>
#include <stdio.h>

#include "run_types.h"

#pragma cf include("run_types.h")

/* The factor that scale() uses. */
__constant__ double factor = 3;
__constant__ int table[2][3];
__constant__ float2 pair = {1, 2};
__constant__ struct body centre;

/* Copies n elements
 * of any type. */
#pragma cf kernel grid(n) in(a[n]) out(b[n])
#pragma cf instances(bool: bool; f16: __half; bf16: __nv_bfloat16; e4m3: __nv_fp8_e4m3; \
                     e5m2: __nv_fp8_e5m2; u16: uint16_t; c64: cuFloatComplex; c128: cuDoubleComplex; f4: float4; \
                     h2: __half2; d3: double3; body: body)
template <typename T> __global__ void copy(const T *a, T *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i];
}

/* Writes the values of its arguments and of the constants as numbers. */
#pragma cf kernel grid(1) out(res[12])
__global__ void values(double *res, bool flag, __half h, __nv_bfloat16 b, cuDoubleComplex z, float3 v,
                       enum colour colour, struct body body)
{
    const double all[12] = {(double)flag, __half2float(h), __bfloat162float(b), cuCreal(z), cuCimag(z), v.x, v.y, v.z,
                            (double)colour, body.mass, (double)body.id, (double)body.kind};
    for (int i = 0; i < 12; i++)
        res[i] = all[i];
}

/* y = by x in floats of 8 bits. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) check(by != 0) tolerance(by / 4)
__global__ void scaled(__nv_fp8_e4m3 by, const __nv_fp8_e5m2 *x, __nv_fp8_e4m3 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __nv_fp8_e4m3((float)by * (float)x[i]);
}

#pragma cf kernel grid(1) out(res[10])
__global__ void constants(double *res)
{
    res[0] = factor;
    for (int i = 0; i < 6; i++)
        res[1 + i] = table[i / 3][i % 3];
    res[7] = pair.x;
    res[8] = pair.y;
    res[9] = centre.mass;
}

/* Numbers the elements of x from the last to the first; it takes their count from its grid. */
#pragma cf kernel blocks(steps) block(1) inout(x[steps]) param(int64_t steps, short most) check(steps <= most)
__global__ void number(int *x)
{
    x[gridDim.x - 1 - blockIdx.x] = blockIdx.x;
}

/* Adds 1 to the elements of rows with pitch ld. */
#pragma cf kernel grid(nx, ny) block(32, 8) in(u[ny][nx]) out(v[ny][nx]) pitch(u: ld; v: ld) check(nx <= ld) \
    flops(1.0 * nx * ny) bytes(0.5 * nx)
__global__ void rows(const float *u, float *v, int nx, int ny, int ld)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        v[y * ld + x] = u[y * ld + x] + 1;
}

#pragma cf kernel grid(nx, ny, nz) block(8, 4, 2) inout(u[1:nz][1:ny][1:nx]) pitch(u: nx + 2, ny << 1)
__global__ void inside(int *u, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz)
        u[((z + 1) * (ny << 1) + y + 1) * (nx + 2) + x + 1] += 1;
}

/* Descriptions show annotations with their macros expanded. */
#define EXTRA (1)

#pragma cf kernel grid(n) in(x[first:n]) out(y[first:n]) scratch(unused[n + EXTRA]) zero(unused[n:1])
__global__ void shift(const int *x, int *y, long *unused, int first, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unused[i] = x[first + i];
        y[first + i] = (int)unused[i] + 10;
    }
}

/* w determines n exactly, x only gives its upper limit. */
#pragma cf kernel grid(n) in(x[first:n], w[n]) out(y[n])
__global__ void weigh(const int *x, const int *w, int *y, int first, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = w[i] * x[first + i];
}

#pragma cf kernel grid(g.nx, g.ny) block(16, 16) in(u[g.ny][g.nx]) out(v[g.ny][g.nx])
__global__ void box(const int *u, int *v, struct grid g)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < g.nx && y < g.ny)
        v[y * g.nx + x] = u[y * g.nx + x] + g.step;
}

#pragma cf kernel grid(1) block(BLOCK) items(ITEMS) tune(BLOCK: 128, 256; ITEMS: 1, 2) out(res[2])
template <int BLOCK, int ITEMS> __global__ void tuned(int *res)
{
    if (threadIdx.x == 0) {
        res[0] = BLOCK;
        res[1] = ITEMS;
    }
}

/* On the CPU each launch gives different results: NaNs get other bits, and numbers become larger by `by`. */
__host__ __device__ inline float drifted(float x, float by, unsigned launches)
{
    union {
        unsigned bits;
        float number;
    } nan;
    nan.bits = 0x7fc00000 + launches;
    return x == x ? x + by * launches : nan.number;
}

template <typename T> void drift_on_cpu(const T *x, T *y, int n, float by, float limit)
{
    static unsigned launches;
    launches++;
    for (int i = 0; i < n; i++) {
        const float *from = (const float *)(x + i);
        float *to = (float *)(y + i);
        for (unsigned c = 0; c < sizeof(T) / sizeof(float); c++)
            to[c] = c + 1 < sizeof(T) / sizeof(float) ? from[c] : drifted(from[c], by, launches);
    }
}

#pragma cf kernel grid(n) in(x[n]) out(y[n]) host(drift_on_cpu) tolerance(0.5 * limit)
#pragma cf instances(f32: float; c64: cuFloatComplex; f4: float4)
template <typename T> __global__ void drift(const T *x, T *y, int n, float by, float limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

/* On the CPU each launch gives numbers that are larger by 1. */
template <typename T> void climb_on_cpu(const T *x, T *y, int n)
{
    static T launches;
    launches++;
    for (int i = 0; i < n; i++)
        y[i] = x[i] + launches;
}

#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, y) host(climb_on_cpu) tolerance(is_integral(T) ? 0 : 1e-3)
#pragma cf instances(f32: float; i32: int; i64: int64_t)
template <typename T> __global__ void climb(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

#pragma cf kernel grid(1) in(x[n / m]) out(y[n % k])
__global__ void quotients(const int *x, int *y, int n, int m, int k)
{
}

/* Prints a line in each launch. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, y) flops(0.0 * n)
__global__ void says(const double *x, double *y, double by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        printf("said\n");
    if (i < n)
        y[i] = x[i] * by;
}

/* Like drift(), without a tolerance. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) host(drift_on_cpu) check(n > 0)
__global__ void stray(const float *x, float *y, int n, float by, float limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

/* Each thread takes its neighbour's number, which the neighbour may already have changed. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void shifts(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        x[i] = x[i + 1];
}

#pragma cf kernel blocks(2) block(32) cooperative shared(32 * sizeof(int)) host(none) inout(x[n])
__global__ void together(int *x, int n)
{
    x[0] = n;
}

/* GPUs before compute capability 9.0 have no clusters. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define PAIRS __cluster_dims__(2, 1)
#else
#define PAIRS
#endif
#pragma cf kernel blocks(2) block(32) inout(x[n])
__global__ void PAIRS in_pairs(int *x, int n)
{
    x[0] = n;
}

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#define cudaGridDependencySynchronize()
#endif
#pragma cf kernel blocks(4) block(32) cluster(2, 1) dependent inout(x[n])
__global__ void in_turn(int *x, int n)
{
    cudaGridDependencySynchronize();
    x[0] = n;
}

#pragma cf kernel grid(n) block(auto) in(list[n])
__global__ void pointers(const float *const *list, int n)
{
}

/* x and raw are pointers without declared extents. */
#pragma cf kernel grid(n) resident(x, raw)
__global__ void raw(int *x, void *raw, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += ((const signed char *)raw)[i];
}
