/* tuning.cu - tuned kernels that tell which of their variants runs. */
#include <stdint.h>

/* Writes the variant's number; a call with n counts as n bytes. */
#pragma cf kernel blocks(1) block(32) out(way[1]) tune(WAY: 1, 2, 3) bytes(1.0 * n)
#pragma cf instances(i32: int32_t; i64: int64_t)
template <typename T, int WAY> __global__ void which(T *way, int64_t n)
{
    if (threadIdx.x == 0)
        way[0] = WAY;
}

/* The size of a call is that of its arrays. */
#pragma cf kernel blocks(1) block(32) in(x[n]) out(way[1]) tune(A: 1, 2; B: 3, 4)
template <int A, int B> __global__ void both(const float *x, int *way, int n)
{
    if (threadIdx.x == 0)
        way[0] = 10 * A + B;
}

/* Callers do not pass the scratch memory. */
#pragma cf kernel blocks(1) block(32) in(x[n]) out(way[1]) scratch(kept[32]) tune(WAY: 1, 2)
template <int WAY> __global__ void with_scratch(const float *x, int *way, int *kept, int n)
{
    kept[threadIdx.x] = WAY;
    if (threadIdx.x == 0)
        way[0] = kept[0];
}

/* The second variant accepts half of the calls that the first accepts. */
#pragma cf kernel blocks(1) block(32) out(way[1]) check(n % WAY == 0) tune(WAY: 1, 2)
template <int WAY> __global__ void even(int *way, int n)
{
    if (threadIdx.x == 0)
        way[0] = WAY;
}

/* No GPU has as much shared memory as the second variant requests. */
#pragma cf kernel blocks(1) block(32) out(way[1]) shared((WAY - 1) * n) tune(WAY: 1, 2)
template <int WAY> __global__ void large(int *way, int n)
{
    if (threadIdx.x == 0)
        way[0] = WAY;
}

/* Not every GPU has enough registers for a block of the second variant. */
#pragma cf kernel blocks(1) block(BLOCK) out(way[1]) tune(BLOCK: 32, 512) bytes(1.0 * n)
template <int BLOCK> __global__ void crowded(int *way, int n)
{
    if (threadIdx.x == 0)
        way[0] = BLOCK;
}

/* Each thread has W elements, which only the definition tells. */
#pragma cf kernel grid(n) items(W) in(x[n]) out(y[n]) tune(W: 1, 4)
template <int W> __global__ void several(const float *x, float *y, int n);

template <int W> __global__ void several(const float *x, float *y, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * W;
    for (int i = first; i < first + W && i < n; i++)
        y[i] = x[i];
}

/* The variants of slow and quick do the same, but one takes some hundred times as long: the first in slow, the
 * second in quick. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) tune(STEPS: 300, 1)
template <int STEPS> __global__ void slow(const volatile int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < STEPS; k++)
            y[i] = x[i];
}

#pragma cf kernel grid(n) in(x[n]) out(y[n]) tune(STEPS: 1, 300)
template <int STEPS> __global__ void quick(const volatile int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < STEPS; k++)
            y[i] = x[i];
}

/* One variant is fast and wrong, and one traps. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) tune(STEPS: 300, 0, 1, -1)
template <int STEPS> __global__ void wrong(const volatile int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (STEPS < 0)
        __trap();
    if (i < n) {
        y[i] = 0;
        for (int k = 0; k < STEPS; k++)
            y[i] = x[i];
    }
}
