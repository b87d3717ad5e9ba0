/* tuning.cu - tuned kernels that report which of their variants runs. */
#include <stdint.h>

/* Writes the number of the variant. A call counts as n bytes. */
#pragma cf kernel blocks(1) block(32) out(way[1]) tune(WAY: 1, 2, 3) bytes(1.0 * n)
#pragma cf instances(i32: int32_t; i64: int64_t)
template <typename T, int WAY> __global__ void which(T *way, int64_t n)
{
    if (threadIdx.x == 0)
        way[0] = WAY;
}

/* The class of a call follows from the bytes of its arrays. */
#pragma cf kernel blocks(1) block(32) in(x[n]) out(way[1]) tune(A: 1, 2; B: 3, 4)
template <int A, int B> __global__ void both(const float *x, int *way, int n)
{
    if (threadIdx.x == 0)
        way[0] = 10 * A + B;
}

/* Has scratch memory, which callers do not pass. */
#pragma cf kernel blocks(1) block(32) in(x[n]) out(way[1]) scratch(kept[32]) tune(WAY: 1, 2)
template <int WAY> __global__ void with_scratch(const float *x, int *way, int *kept, int n)
{
    kept[threadIdx.x] = WAY;
    if (threadIdx.x == 0)
        way[0] = kept[0];
}

/* Has a second variant that accepts only half of the calls that the first accepts. */
#pragma cf kernel blocks(1) block(32) out(way[1]) check(n % WAY == 0) tune(WAY: 1, 2)
template <int WAY> __global__ void even(int *way, int n)
{
    if (threadIdx.x == 0)
        way[0] = WAY;
}

/* Has a second variant that requests more shared memory than any GPU has. */
#pragma cf kernel blocks(1) block(32) out(way[1]) shared((WAY - 1) * n) tune(WAY: 1, 2)
template <int WAY> __global__ void large(int *way, int n)
{
    if (threadIdx.x == 0)
        way[0] = WAY;
}

/* Has a second variant for whose blocks some GPUs have too few registers. */
#pragma cf kernel blocks(1) block(BLOCK) out(way[1]) tune(BLOCK: 32, 512) bytes(1.0 * n)
template <int BLOCK> __global__ void crowded(int *way, int n)
{
    if (threadIdx.x == 0)
        way[0] = BLOCK;
}

/* Each thread has W elements; only the definition shows that. */
#pragma cf kernel grid(n) items(W) in(x[n]) out(y[n]) tune(W: 1, 4)
template <int W> __global__ void several(const float *x, float *y, int n);

template <int W> __global__ void several(const float *x, float *y, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * W;
    for (int i = first; i < first + W && i < n; i++)
        y[i] = x[i];
}

/* The two variants of slow and of quick give the same results, but one takes several hundred times as long: in slow it
 * is the first, in quick the second. */
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

/* One variant is fast and gives wrong results; another one traps. */
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
