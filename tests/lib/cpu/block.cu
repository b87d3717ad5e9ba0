/* block.cu - kernels for test_block.c whose threads wait for one another. */
#include <cassert>
#include <stdint.h>

__device__ float warp_sum(float x)
{
    for (int distance = 16; distance; distance /= 2)
        x += __shfl_down_sync(0xffffffff, x, distance);
    return x;
}

/* Sums rows of 256 elements. */
#pragma cf kernel blocks(rows) block(256) in(x[rows][256]) out(sums[rows])
__global__ void row_sums(const float *x, float *sums, int rows)
{
    __shared__ float part[8], sum;
    float x_sum = warp_sum(x[blockIdx.x * 256 + threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x_sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int i = 0; i < 8; i++)
            sum += part[i];
    }
    __syncthreads();
    if (threadIdx.x == 255)
        sums[blockIdx.x] = sum;
}

/* Reverses n elements through dynamic shared memory. */
#pragma cf kernel blocks(1) block(n) shared(n * sizeof(int)) in(x[n]) out(y[n])
__global__ void reverse_in_shared(const int *x, int *y, int n)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

/* Deadlocks: thread `lonely` never reaches the barrier. */
#pragma cf kernel blocks(1) block(64) out(y[64])
__global__ void wait_for_ever(int *y, int lonely)
{
    if ((int)threadIdx.x == lonely)
        __shfl_sync(0xffffffff, 1, 0);
    else
        __syncthreads();
    y[threadIdx.x] = 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void check_all(int *x, int limit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    assert(x[i] < limit);
    x[i]++;
}

/* Uses about as much local memory as a GPU allows for a thread. */
#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void keep_much(int *x, int last)
{
    volatile int kept[100 * 1024];
    int i = threadIdx.x;
    for (int j = i; j <= last; j += 512)
        kept[j] = x[i] + j;
    __syncthreads();
    x[i] = 0;
    for (int j = i; j <= last; j += 512)
        x[i] += kept[j] - j;
}

/* Recurses; each level has local memory of its own. */
__device__ __noinline__ int descend(int depth, int x)
{
    volatile int kept[1024];
    kept[depth % 1024] = x;
    if (depth > 0)
        kept[1] = descend(depth - 1, x + 1);
    return kept[depth % 1024] + kept[1] * (depth > 0);
}

#pragma cf kernel blocks(1) block(64) out(x[64])
__global__ void descend_deep(int *x, int depth)
{
    __syncthreads();
    x[threadIdx.x] = descend((int)threadIdx.x == 63 ? depth : 0, 1);
}

/* Recurses with small frames: 8 levels take less than a page. */
__device__ __noinline__ int descend_finely(int depth)
{
    volatile int kept = depth;
    if (depth > 0)
        kept += descend_finely(depth - 1);
    return kept;
}

#pragma cf kernel blocks(1) block(64) out(x[64])
__global__ void descend_slowly(int *x, int depth)
{
    __syncthreads();
    x[threadIdx.x] = descend_finely((int)threadIdx.x == 63 ? depth : 0);
}

/* The threads leave one by one, and the others wait for one another as before. */
#pragma cf kernel blocks(blocks) block(n) out(rounds[blocks * n])
__global__ void leave_in_turn(int *rounds, int blocks, int n)
{
    int i = threadIdx.x;
    for (int count = 0;; count++) {
        if (count == (i * 37) % n) {
            rounds[blockIdx.x * n + i] = count;
            return;
        }
        if (__syncthreads_count(1) > n)
            return;
    }
}

/* Waits at the given depth of the stack; `way` selects the kind of wait. Returns `own` of the neighbouring
 * lane. */
__device__ __noinline__ int wait_deep(int depth, int way, int own)
{
    volatile int kept[7];
    kept[depth] = own + depth;
    int other = own;
    if (depth > 0)
        other = wait_deep(depth - 1, way, own);
    else if (way == 0)
        __syncwarp();
    else if (way == 1)
        __syncthreads();
    else if (way == 2)
        __nanosleep(1);
    else if (way == 3)
        other = __activemask() ? own : -1;
    else
        other = __shfl_xor_sync(0xffffffff, own, 1);
    return kept[depth] == own + depth ? other : -1;
}

/* Counts wrong results of threads that use all kinds of waits in turn, each time at another depth of the stack. Threads
 * that yield do so while other threads of their warp run. */
#pragma cf kernel blocks(blocks) block(n) out(wrong[blocks * n]) check(n % 32 == 0)
__global__ void wait_in_all_ways(int *wrong, int blocks, int n, int rounds)
{
    int i = threadIdx.x, count = 0;
    for (int round = 0; round < rounds; round++) {
        int depth = (i * 5 + round * 3) % 7, way = (round * 7 + i / 32 * 3) % 5, own = blockIdx.x * n + i + round;
        if ((i * 11 + round) % 3 == 0)
            count += wait_deep(6 - depth, 2, own) != own;
        count += wait_deep(depth, way == 1 ? 4 : way, own) !=
                 (way == 1 || way == 4 ? ((own - round) ^ 1) + round : own);
        if (round % 4 == 1)
            count += wait_deep(depth, 1, own) != own;
        for (int turn = 0; i % 32 < 2 && turn < 4; turn++) /* only these two threads take turns */
            count += wait_deep((depth + turn * 3) % 7, 2, own) != own;
        count += (int)threadIdx.x != i;
    }
    wrong[blockIdx.x * n + i] = count;
}

/* One thread fails after the barrier while the others go on. */
#pragma cf kernel blocks(1) block(64) out(y[64])
__global__ void fail_after_barrier(int *y, int who)
{
    __syncthreads();
    assert((int)threadIdx.x != who);
    y[threadIdx.x] = 1;
    __syncthreads();
}
