/* language.cu - a kernel for each clause and each kind of declaration; test_language.c calls all of them. */
#include <cooperative_groups.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>

#include "language.h"

#pragma cf include("language.h")

#define SECTION(of) of[1:of##_rows]
#define TILE 8
constexpr int LARGE = 20 * 1024;

/* Weights of three neighbours. */
__constant__ float weights[3] = {0.25f, 0.5f, 0.25f};
namespace hidden {
static __constant__ real offset;
}

/* Smooths the inside of a padded field; the rim and the padding stay as they are. */
#pragma cf kernel name(smooth) grid(f.nx, f.ny) block(TILE * 4, TILE) in(u[f.ny][f.nx]) \
    inout(v[1:f.ny - 2][1:f.nx - 2]) pitch(u: f.ld; v: f.ld) check(f.ld >= f.nx > 2, f.ny > 2, -1.5 <= f.h[0] < 2) \
    tolerance(1e-6) flops(5.0 * f.nx * f.ny)
__global__ void __launch_bounds__(TILE * 4 * TILE) smooth_v2(const float *__restrict__ u, float *__restrict__ v,
                                                                  const struct field f)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < f.nx - 1 && y > 0 && y < f.ny - 1) {
        const float *row = u + (size_t)y * f.ld + x;
        v[(size_t)y * f.ld + x] =
            f.h[0] * (weights[0] * row[-1] + weights[1] * row[0] + weights[2] * row[1]) + (float)hidden::offset;
    }
}

/* Each thread has four elements, beginning at `first`. */
#pragma cf kernel grid(n) items(4) in(x[first:n]) out(y[first:n])
__global__ void shift(const int *x, int *y, long first, unsigned long n)
{
    unsigned long begin = (blockIdx.x * (unsigned long)blockDim.x + threadIdx.x) * 4;
    for (unsigned long i = begin; i < n && i < begin + 4; i++)
        y[first + i] = x[first + i] + 1;
}

#pragma cf kernel grid(n) block(auto) in(key[n]) inout(x[n]) check(3 <= key[:] < 250)
__global__ void any_block(real *x, const uint8_t *key, uint64_t n)
{
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += key[i];
}

static double total_of(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

template <typename T, int BLOCK> void sum_on_host(const T *x, T *sum, T *partial, unsigned *done, int n)
{
    double all[1];
    *sum = 0;
    for (int i = 0; i < n; i++) {
        all[0] = x[i];
        *sum += (T)total_of(all, 1);
    }
    partial[0] = *sum;
    done[0] += BLOCK > 0;
}

__device__ unsigned lane()
{
    unsigned id;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

/* Sums n elements. Blocks count themselves in *done, and the last one adds the partial sums. */
#pragma cf kernel blocks(max((n + BLOCK - 1) / BLOCK, 1)) block(BLOCK) in(x[n]) out(sum[1]) inout(done[1]) \
    scratch(partial[max((n + BLOCK - 1) / BLOCK, 1)]) shared(BLOCK * sizeof(T)) host(sum_on_host) \
    tune(BLOCK: 128, 256, 2 * 256)
#pragma cf instances(f32: float; f64: double)
template <typename T, int BLOCK>
__global__ void __launch_bounds__(BLOCK) total(const T *x, T *sum, T *partial, unsigned *done, int n)
{
    extern __shared__ unsigned char memory[];
    __shared__ bool is_last;
    T *values = (T *)memory;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    values[threadIdx.x] = i < n ? x[i] : T(0);
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = values[0];
        __threadfence();
        is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        T all = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            all += ((volatile T *)partial)[b];
        *sum = all;
        *done = 1 + lane() / 32;
    }
}

/* Sets each element to the sum of all elements, which needs all blocks to be resident at once. */
#pragma cf kernel blocks(16) block(64) cooperative inout(x[n]) scratch(sums[16]) check(n == 1024)
__global__ void together(int *x, int *sums, int n)
{
    auto grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sums[blockIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[blockIdx.x], x[i]);
    grid.sync();
    int all = 0;
    for (int b = 0; b < 16; b++)
        all += sums[b];
    x[i] = all;
}

/* Needs more shared memory than a kernel may use by default. */
#pragma cf kernel blocks(1) block(256) shared(LARGE * sizeof(int)) host(reverse_on_cpu) inout(x[n]) check(n <= LARGE)
__global__ void reverse(int *x, int n)
{
    extern __shared__ int kept[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        kept[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = kept[n - 1 - i];
}

namespace narrow {
using half_t = __half;

#pragma cf kernel grid(n) in(h[n], b[n], z[n], w[n]) out(flags[n], sums[n])
__global__ void types(const half_t *h, const __nv_bfloat16 *b, cuFloatComplex const *z, const cuDoubleComplex w[],
                      bool *flags, float2 *sums, unsigned n, char letter, dim3 size, float3 by)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = __half2float(h[i]) + __bfloat162float(b[i]) + cuCrealf(z[i]) + (float)cuCimag(w[i]);
    sums[i] = make_float2(sum + by.z, (float)(letter * size.x));
    flags[i] = sum > 4;
}
}

#pragma cf kernel grid(n) in(a[n]) out(b[n])
#pragma cf instances(f4: float4; particle: particle, 2; c128: cuDoubleComplex, TILE; u8: unsigned char)
template <typename T, int COPIES = 1> __global__ void copy(const T *a, T *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n * (COPIES > 0))
        b[i] = a[i];
}

#pragma cf kernel grid(n) inout(x[n]) flops(n) bytes(n * 2. * sizeof(int))
extern "C" __global__ void apply(int *x, enum mode mode, const bool twice, const int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (mode == NEGATE ? -x[i] : mode == COPY ? x[i] : SCALE_BY * x[i]) * (1 + twice);
}

/* Reads rows in device memory through their addresses. *raw is not declared and must be device memory. */
#pragma cf kernel grid(n) in(rows[n]) out(firsts[n]) resident(count, raw)
__global__ void gather_rows(const float *const *rows, float *firsts, volatile int *count, const void *raw, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        firsts[i] = rows[i][0];
    if (i == 0)
        *count = *(const int *)raw;
}

#define KERNEL(kind, type)                                                                          \
    _Pragma("cf kernel grid(n) inout(x[n])") __global__ void add_##kind(type *x, type by, int n)    \
    {                                                                                               \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                              \
        if (i < n)                                                                                  \
            x[i] += by;                                                                             \
    }
KERNEL(short, short)
KERNEL(u64, unsigned long long)

#pragma cf kernel grid(rows << 1, 1) block(1 << 5) inout(SECTION(x)) \
    check((rows & (rows - 1)) == 0, rows > 0 ? rows < 100 : true)
__global__ void power(int64_t *x, int rows, int x_rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < x_rows)
        x[1 + i] = 2 * x[1 + i] + rows;
}

/* Reports how many threads the CPU runs; the number is computed with every operator. A GPU runs one block. */
#pragma cf kernel grid(1) inout(threads[1]) host(grid( \
    way == 0 ? n & 12 : way == 1 ? n | 5 : way == 2 ? n ^ 3 : way == 3 ? ~n + 200 : way == 4 ? -n + 200 : \
    way == 5 ? !n + 3 : way == 6 ? n << 1 : way == 7 ? n >> 2 : way == 8 ? min(n, m) : way == 9 ? max(n, m) : \
    way == 10 ? (n > m && m != 2) + 1 : way == 11 ? (n <= m || m == 2) + 2 : way == 12 ? (2 < n < 9) + 3 : \
    way == 13 ? n / 7 + n % 7 : way == 14 ? n - m * 2 : at.y * sizeof(int64_t)))
__global__ void count_threads(int way, int64_t n, int64_t m, int2 at, int64_t *threads)
{
    if (blockIdx.x * blockDim.x + threadIdx.x == 0)
        *threads = (int64_t)gridDim.x * blockDim.x;
}

/* Counts the elements above a limit. In scratch memory that is used again, only the cells in zero(...) are 0. */
#pragma cf kernel grid(n) in(x[n]) out(count[1]) scratch(work[n + 2]) zero(work[1:2])
__global__ void count_over(const double *x, double limit, int64_t *count, int64_t *work, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (x[i] > limit)
        atomicAdd((unsigned long long *)&work[1], 1ull);
    __threadfence();
    if (atomicAdd((unsigned long long *)&work[2], 1ull) != (unsigned long long)n - 1)
        return;
    __threadfence();
    *count = (int64_t)atomicAdd((unsigned long long *)&work[1], 0ull);
    work[0] = work[1] = work[2] = -1;
}

/* Counts the elements below 0, and the others. */
#pragma cf kernel grid(n) in(x[n]) out(count[2]) zero(count)
__global__ void count_signs(const int *x, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&count[x[i] >= 0], 1);
}

/* x[i] += 1; on the CPU a thread handles m elements. */
#pragma cf kernel grid(n) inout(x[n]) host(grid((n + m - 1) / m))
__global__ void by_pieces(int *x, int64_t n, int64_t m)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __CUDA_ARCH__
    if (i < n)
        x[i]++;
#else
    for (int64_t k = i * m; k < (i + 1) * m && k < n; k++)
        x[k]++;
#endif
}

/* y[i] = 2 x[i]; y may be x. */
#pragma cf kernel grid(rows, cols) in(x[rows][cols]) out(y[rows][cols]) pitch(x: of_x; y: of_y) inplace(x, y)
__global__ void twice(const int *x, int *y, int rows, int cols, int of_x, int of_y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols)
        y[i * of_y + j] = 2 * x[i * of_x + j];
}

/* to[index[i]] = i; if indices are equal, any of them may determine the element. */
#pragma cf kernel grid(n) in(index[n]) inout(to[n]) check(0 <= index[:] < n, distinct(index))
__global__ void invert(const int *index, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[index[i]] = i;
}

/* Counts the joints at each node. */
#pragma cf kernel grid(n) in(joints[n]) inout(counts[m]) \
    check(0 <= joints[:].ends.x < m, 0 <= joints[:].ends.y < m, joints[:].tag.kinds[TILE / 4] > 0)
__global__ void count_joints(struct joint *joints, int *counts, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[joints[i].ends.x], (int)joints[i].tag.kinds[2]);
        atomicAdd(&counts[joints[i].ends.y], (int)joints[i].tag.kinds[2]);
    }
}

/* Sums the rows of x, whose starts are in `first`; elements outside of the rows are not read. */
#pragma cf kernel grid(rows) in(first[rows + 1], x[n]) out(sum[rows]) check(ascending(first), 0 <= first[:] <= n)
__global__ void sum_rows(const int64_t *first, const int *x, int *sum, int rows, int64_t n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        sum[i] = 0;
        for (int64_t k = first[i]; k < first[i + 1]; k++)
            sum[i] += x[k];
    }
}

/* Reverses each row of x; the kernel takes the width from its block. */
#pragma cf kernel blocks(rows) block(width) shared(width * sizeof(float)) in(x[rows][width]) out(y[rows][width]) \
    check(0 <= slack < 1) tolerance(slack) param(int64_t rows, int width, float slack)
__global__ void reverse_rows(const float *x, float *y)
{
    extern __shared__ float row[];
    int64_t first = (int64_t)blockIdx.x * blockDim.x;
    row[threadIdx.x] = x[first + threadIdx.x];
    __syncthreads();
    y[first + threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
}

/* x[i] = first + i; the types of the C function's parameters depend on the instance. */
#pragma cf kernel blocks(count) block(1) out(x[count]) host(grid(count)) param(unsigned count)
#pragma cf instances(i32: int; f64: double)
template <typename T> __global__ void number_elements(T *x, T first)
{
    x[blockIdx.x] = first + (T)blockIdx.x;
}

template <typename T> struct bound_of {
    static const int threads = 512 / sizeof(T);
};
/* Only this declaration states the bound. */
template <typename U> __global__ void __launch_bounds__(bound_of<U>::threads, 1) number_block(U *, int, int);

/* y[i] = i, by one block that may have at most 128 or 64 threads. */
#pragma cf kernel blocks(1) block(width, height) out(y[height][width])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void number_block(T *y, int width, int height)
{
    const int i = threadIdx.y * blockDim.x + threadIdx.x;
    y[i] = (T)i;
}

int main()
{
    shift<<<1, 32>>>(nullptr, nullptr, 0, 0);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
