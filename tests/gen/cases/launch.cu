/* launch - sections, pitches, scratch, shared memory, tuned constants, functions for the CPU, constant memory. */
#include <stdint.h>
#include <stdio.h>

#include <cstddef>

/* The stencil's weights, from the middle outwards. */
__constant__ float weights[2 * 3 + 1];
namespace heat {
static __constant__ double dt, table[2][3];
}
__constant__ const int fixed = 3;

/* These variables have no setters. */
__constant__ float *somewhere;
constexpr int size()
{
    return 3;
}
__constant__ std::size_t counts[size()];
struct local {
    int a;
};
__constant__ local own[2];

/* Rows of a padded field. */
#pragma cf kernel name(blur) grid(nx, ny) block(32, 8) in(u[1:ny - 2][1:nx - 2]) inout(v[ny][nx]) pitch(u: ld; v: ld) \
    check(ld >= nx > 2) tolerance(1e-6 * nx + scale) flops(2.0 * nx * ny) bytes(nx * ny * 8.)
__global__ void blur_v2(const float *u, float *v, int nx, int ny, int ld, float scale)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
        v[y * ld + x] = u[y * ld + x] * weights[0] * scale * (float)heat::dt + fixed + (float)heat::table[0][0];
}

#pragma cf kernel grid(n) items(4) in(x[first:n]) out(y[first:n])
__global__ void four(const float *x, float *y, long first, long n)
{
    for (long i = (blockIdx.x * (long)blockDim.x + threadIdx.x) * 4, end = i + 4; i < n && i < end; i++)
        y[first + i] = x[first + i];
}

#pragma cf kernel grid(n >> 1 ? (n + 1) & ~1 : n) block(auto) inout(x[n]) in(key[n]) check(key[:] < 256)
__global__ void any_block(double *x, const uint8_t *key, uint64_t n)
{
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += key[i];
}

static float host_sum(const float *x, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

template <typename T, int BLOCK> void sum_on_host(const T *x, T *sum, T *partial, int n)
{
    *sum = host_sum(x, n);
    if (BLOCK > 0 && n > 0)
        *partial = *sum;
}

__device__ unsigned lane()
{
    unsigned id;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

/* The sum of n elements. */
#pragma cf kernel blocks((n + BLOCK - 1) / BLOCK) block(BLOCK) in(x[n]) out(sum[1]) scratch(partial[(n + BLOCK - 1) / BLOCK]) \
    shared(BLOCK * sizeof(T)) host(sum_on_host) tune(BLOCK: 128, 256, 2 * 256)
#pragma cf instances(f32: float)
template <typename T, int BLOCK> __global__ void __launch_bounds__(BLOCK) total(const T *x, T *sum, T *partial, int n)
{
    extern __shared__ unsigned char memory[];
    T *values = (T *)memory;
    values[threadIdx.x] = x[0];
    __syncthreads();
    partial[blockIdx.x] = values[0] + lane();
    *sum = partial[0] + n;
}

#pragma cf kernel blocks(4) block(64) cooperative host(none) inout(x[n])
__global__ void together(int *x, int n)
{
    x[threadIdx.x] += n + lane();
}

#pragma cf kernel grid(n) inout(x[n]) host(count_on_cpu)
#pragma cf instances(i32: int; u32: unsigned)
template <typename T> __global__ void count(T *x, int n)
{
    x[0] = lane() + n;
}

#define CHECK(call)                                    \
    do {                                               \
        if ((call) != cudaSuccess)                     \
            printf("failed: %s\n", #call);             \
    } while (0)

void run(float *x, int n)
{
#ifdef NEVER
    this is not even C++ }
#else
    four<<<1, 32>>>(x, x, 0, n);
#endif
    CHECK(cudaDeviceSynchronize());
}

int main()
{
    run(nullptr, 0);
}
