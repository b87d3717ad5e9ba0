/* bench.cu - kernels for the tests of cf-bench: correct kernels, wrong kernels, and kernels that fail at some sizes. */
#include <stdint.h>

__constant__ int offset;

/* ---- Correct kernels ---- */

#pragma cf kernel grid(n) in(x[n]) out(y[n]) bytes(2 * n * sizeof(T)) flops(n)
#pragma cf instances(f32: float; i64: int64_t)
template <typename T> __global__ void twice(const T *x, T *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

#pragma cf kernel grid(nx, ny) block(32, 8) in(u[ny][nx]) out(v[ny][nx]) pitch(u: ld; v: ld) check(ld > nx)
__global__ void field(const float *u, float *v, int nx, int ny, int ld)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        v[y * ld + x] = 2 * u[y * ld + x];
}

#pragma cf kernel grid(n) in(x[n], y[k]) inout(bins[16]) check(0 <= x[:] < 16) tune(BLOCK: 64, 128) block(BLOCK)
template <int BLOCK> __global__ void count(const int *x, const double *y, int *bins, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[x[i]], y[i % k] < 2);
}

#pragma cf kernel grid(rows, cols) block(16, 16) in(a[rows * inner], b[inner * cols]) out(c[rows * cols]) \
    flops(2.0 * rows * inner * cols) tolerance(1e-5)
__global__ void product(const float *a, const float *b, float *c, int rows, int inner, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols)
        return;
    float sum = 0;
    for (int k = 0; k < inner; k++)
        sum += a[i * inner + k] * b[k * cols + j];
    c[i * cols + j] = sum;
}

/* Crashes the process if n is 64 or more. */
#pragma cf kernel grid(n) out(y[n])
__global__ void strays(int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i + (n < 64 ? 0 : 1ll << 40)] = i;
}

/* Traps if its array has changed since the first run. */
#pragma cf kernel grid(n) inout(y[n]) check(0 <= y[:] <= 0)
__global__ void once(int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && y[i] != 0)
        __trap();
    if (i < n)
        y[i] = 1;
}

#pragma cf kernel grid(64) block(64) out(y[64])
__global__ void constant(int *y)
{
    y[threadIdx.x] = offset;
}

/* ---- Wrong kernels ---- */

#pragma cf kernel grid(n) out(y[n])
__global__ void forgets(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i != 30)
        y[i] = 1;
}

#pragma cf kernel grid(n) out(y[n])
__global__ void traps(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 40)
        __trap();
    if (i < n)
        y[i] = 1;
}

#pragma cf kernel grid(n) out(y[n]) host(crashes_on_cpu)
__global__ void crashes(volatile float *y, int n)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = *(volatile float *)8;
}

static void crashes_on_cpu(volatile float *y, int n)
{
    y[n - 1] = *(volatile float *)8;
}

#pragma cf kernel grid(n) out(y[n]) host(hangs_on_cpu)
__global__ void hangs(volatile float *y, int n)
{
    for (;;)
        y[0] = 1;
}

static void hangs_on_cpu(volatile float *y, int n)
{
    for (;;)
        y[0] = 1;
}

/* ---- Kernels that cannot run, or not at every size ---- */

#pragma cf kernel grid(n) out(y[n]) check(n <= 100)
__global__ void small(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1;
}

#pragma cf kernel grid(n) in(index[n]) inout(y[m]) check(0 <= index[:] < m, distinct(index))
__global__ void put(const uint8_t *index, int *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[index[i]] = i;
}

#pragma cf kernel grid(n) in(x[n]) out(y[n]) check(distinct(x))
__global__ void widen(const int8_t *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

#pragma cf kernel grid(n, k) in(x[n], y[k], a[n][k]) out(z[n][k]) check(k <= 20)
__global__ void strip(const float *x, const float *y, const float *a, float *z, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < k)
        z[i * k + j] = x[i] * y[j] + a[i * k + j];
}

#pragma cf kernel grid(n) out(y[n]) check(n > 5, n < 5)
__global__ void never(float *y, int n)
{
}

#pragma cf kernel grid(n) resident(y)
__global__ void undeclared(float *y, int n)
{
}
