/* chunk.cu - kernels whose calls can be split, for test_chunk.c. */
#include <stdint.h>

/* Has arrays of every direction, and an array that all chunks read. */
#pragma cf kernel grid(n) in(x[n], factors[2]) inout(y[n]) out(z[n]) split(n)
__global__ void blend(const float *x, const float *factors, float *y, float *z, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        z[i] = factors[0] * x[i];
        y[i] += factors[1] * x[i];
    }
}

/* One array, which is written or read. */
#pragma cf kernel grid(n) out(y[n]) split(n)
__global__ void set(int64_t *y, int64_t value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = value;
}

#pragma cf kernel grid(n) in(x[n]) inout(sum[1]) split(n)
__global__ void add_up(const int32_t *x, unsigned long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, (unsigned long long)x[i]);
}

/* Adds 1; if the arrays overlap, threads write elements that their neighbours read. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) split(n)
__global__ void add_1(const float *x, float *y, uint64_t n)
{
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1;
}

/* Has rows, whose number has 16 bits. */
#pragma cf kernel grid(rows * width) in(x[rows][width]) out(y[rows][width]) split(rows)
__global__ void turn(const int32_t *x, int32_t *y, uint16_t rows, int32_t width)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (int64_t)rows * width)
        y[i] = x[i / width * width + (width - 1 - i % width)];
}

/* Has indices that are checked. */
#pragma cf kernel grid(n) in(x[m], index[n]) out(y[n]) check(0 <= index[:] < m) split(n)
__global__ void pick(const float *x, const int32_t *index, float *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]];
}

/* Has scratch memory with as many elements as a chunk. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) scratch(copy[n]) split(n)
__global__ void stop_over(const float *x, float *y, float *copy, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        copy[i] = x[i];
        y[i] = copy[i];
    }
}

/* Has a check that no chunk is long enough to pass. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) check(n >= 2000000) split(n)
__global__ void copy_many(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

/* Counts its blocks. The kernel does not check whether a thread has an element. */
#pragma cf kernel blocks((n + 255) / 256) block(256) in(x[n]) inout(count[2]) split(n)
__global__ void count_blocks(const float *x, int *count, int n)
{
    if (threadIdx.x == 0)
        atomicAdd(&count[0], 1);
    if (threadIdx.x == 0 && blockIdx.x == 0)
        atomicAdd(&count[1], (int)gridDim.x + (x[n - 1] < 0));
}

/* Faults if an element is -1. */
#pragma cf kernel grid(n) inout(x[n]) split(n)
__global__ void trap(int32_t *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i]++ == -1)
        __trap();
}
