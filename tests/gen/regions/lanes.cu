/* lanes.cu - kernels for test_regions.c with shuffles, votes and __syncwarp(). A name that ends in _turns is of a kernel
 * without regions. All have n / 96 blocks of 96 threads and one element to a thread, if they do not say otherwise. */
#include <cuda_fp16.h>

#define SIZE 96
#define ALL 0xffffffffu

constexpr unsigned int every = 0xffffffff;

/* Warps compute their sums and greatest values by two kinds of shuffles. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_sums(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i], most = in[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(ALL, sum, offset);
    for (int mask = 16; mask > 0; mask >>= 1)
        most = fmaxf(most, __shfl_xor_sync(every, most, mask));
    float first = __shfl_sync(-1, sum, 0);
    out[i] = first + most * 1000;
}

/* Each warp scans values with a width, and values of other types. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_scans(const float *in, int n, float *out)
{
    const unsigned int mask = ~0u;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int whole = (int)in[i];
    double wide = in[i] * 0.5;
    unsigned char small = (unsigned char)(in[i] * 8);
    for (int k = 1; k < 32; k *= 2) {
        int other = __shfl_up_sync(mask, whole, k);
        if (lane >= k)
            whole += other;
        auto far = __shfl_up_sync(mask, wide - k, k, 8);
        wide += far;
    }
    __syncwarp();
    long long big = __shfl_sync(mask, (long long)whole << 33, lane * 7, 16) >> 33;
    small = __shfl_xor_sync((mask), small, 5, 4) + __shfl_down_sync(0xFFFFFFFF, small, 33);
    __half half = __shfl_down_sync(mask, __float2half(in[i]), 3, 8);
    out[i] = whole + (float)wide + big * 0.25f + small + __half2float(half);
}

/* In a block of 96 threads, 90 end and the first ones of each warp go on: the ended lanes give 0. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_ends(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 0.5f;
    if (threadIdx.x % 32 > 20 || threadIdx.x >= 64)
        return;
    float v = in[i];
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_xor_sync(ALL, v, k) + __shfl_down_sync(ALL, in[i] + k, k);
    v += __ballot_sync(ALL, v > 100) % 1024u + __all_sync(ALL, v > 3) * 2048 + __any_sync(ALL, v < 7) * 4096;
    out[i] = v;
}

/* Blocks have 8 * 5 * 2 threads, so that the last warp of a block has 16 lanes. */
#pragma cf kernel blocks(n / 80) block(8, 5, 2) in(in[n]) out(out[n])
__global__ void warp_parts(const float *in, int n, float *out)
{
    int t = (threadIdx.z * 5 + threadIdx.y) * 8 + threadIdx.x, i = blockIdx.x * 80 + t;
    float v = in[i];
    v = v + __shfl_xor_sync(ALL, v, 16) + __shfl_down_sync(ALL, v * 2, 17) + __shfl_sync(ALL, v * 4, 31 - t);
    int votes = __ballot_sync(ALL, (int)v % 2) & 0xffff;
    bool all = __all_sync(ALL, v);
    out[i] = v + votes + all;
}

/* A loop with barriers contains shuffles, and values pass through __shared__ memory. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void block_sums(const float *in, int n, float *out)
{
    __shared__ float sums[SIZE / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float v = in[i], result = 0;
    for (int turn = 0; turn < 3; turn++) {
        float sum = v + turn;
#pragma unroll
        for (int k = 16; k; k >>= 1)
            sum += __shfl_down_sync(ALL, sum, k);
        if (lane == 0)
            sums[warp] = sum;
        __syncthreads();
        float total = 0;
        for (int k = 0; k < SIZE / 32; k++)
            total += sums[k];
        result += total;
        __syncthreads();
    }
    out[i] = result;
}

/* A statement shuffles values that it changes itself, or memory that it writes. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_swaps(const float *in, int n, float *out)
{
    __shared__ int s[SIZE];
    unsigned int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    s[t] = (int)in[i];
    s[t] = __shfl_xor_sync(~0, s[t], 1) - s[t];
    __syncwarp(ALL);
    int v = s[t ^ 3];
    v *= 2 + __shfl_up_sync(4294967295u, v, t % 5u);
    out[i] = v / 4 + __shfl_sync(ALL, v, 3) / 3;
    __shfl_sync(ALL, v, 3);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void half_mask(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i];
    if (threadIdx.x % 32 < 16)
        v = __shfl_xor_sync(0xffff, v, 1);
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void in_condition_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i];
    while (__any_sync(ALL, v < 1000))
        v = v * 2 + 1;
    v = v > 0 ? __shfl_xor_sync(ALL, v, 1) : 0;
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void with_effects_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x, k = 0;
    float v = in[i];
    v += __shfl_xor_sync(ALL, v + k++, 1) + k;
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void in_order_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x, a = (int)in[i], b;
    b = 3, a = b + __shfl_xor_sync(ALL, b, 1);
    out[i] = a;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void nested_call(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    out[i] = __shfl_xor_sync(ALL, __shfl_up_sync(ALL, in[i], 1), 1);
}

/* Rows of a block are no whole warps; only the first warp adds up the sums of all warps. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_guards(const float *in, int n, float *out)
{
    __shared__ float sums[SIZE / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = i / 32;
    out[i] = -1;
    if (row < n / 32 - 1) {
        float sum = 0;
        for (int k = row + lane; k < row + 40; k += 32)
            sum += in[k];
        for (int k = 16; k > 0; k >>= 1)
            sum += __shfl_xor_sync(ALL, sum, k);
        if (lane == 0)
            sums[warp] = sum;
        else if (lane > 3)
            out[i] = sum;
    } else {
        int k = __ballot_sync(ALL, in[i] > 3);
        sums[warp] = k % 1000;
    }
    __syncthreads();
    if (warp == 0) {
        float v = lane < SIZE / 32 ? sums[lane] : 0;
        for (int k = 1; k < warpSize; k <<= 1) {
            float other = __shfl_up_sync(ALL, v, k);
            if (lane >= k)
                v += other;
        }
        if (lane < 3)
            out[i] = v;
    }
}

/* Some lanes of a warp take part. The other lanes end, and give 0. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_rests(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, left = (int)in[i] % 3;
    out[i] = -1;
    if (left != 1) {
        if (threadIdx.x % 32 < 27) {
            float v = in[i];
            for (int k = 16; k; k /= 2)
                v += __shfl_xor_sync(ALL, v, k);
            out[i] = v + __any_sync(ALL, v > 300) + (__all_sync(ALL, v > 10) << 2);
        }
    }
}

/* Threads wait for ever for lanes of their warp that have gone on. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_waits(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = -1;
    if (threadIdx.x > 40)
        out[i] = __shfl_xor_sync(ALL, in[i], 1);
    __syncthreads();
    out[i] += 1;
}

/* Threads wait for lanes of their warp that have gone on, and that wait at another shuffle. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_meets(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    if (threadIdx.x > 40)
        v = __shfl_xor_sync(ALL, v, 1);
    else if (threadIdx.x > 20)
        v = __shfl_down_sync(ALL, v, 1);
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_syncs(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    if (threadIdx.x > 40)
        v = __shfl_xor_sync(ALL, v, 1);
    __syncwarp();
    out[i] = v;
}

/* The last turn of the loop has only a part of the block, and the other lanes end. */
#pragma cf kernel blocks(1) block(100) in(in[n]) out(out[n])
__global__ void ragged(const float *in, int n, float *out)
{
    int t = threadIdx.x;
    for (int base = 0; base < n; base += 100) {
        if (base + t < n) {
            float v = in[base + t];
            v += __shfl_down_sync(ALL, v, 1);
            out[base + t] = v;
        }
    }
}

/* No thread, or no thread that has ended, reaches the operations after the guard. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void last_operation(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float v = in[i];
    if (t < 40)
        v += __shfl_xor_sync(ALL, v, 1);
    if (n == 5)
        __syncthreads();
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void lacking_ends(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float v = in[i];
    if (t < 40)
        v += __shfl_xor_sync(ALL, v, 1);
    out[i] = v;
    if (t >= 40)
        return;
    __syncthreads();
    out[i] += __shfl_xor_sync(ALL, v, 2);
}

/* The loop does not end for the values in threads that the guard stops. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void guarded_while(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, step = n - 480;
    float v = in[i];
    if ((i + step) / 32 % 2) {
        for (int k = 16; k > 0; k -= step + 1)
            v += __shfl_xor_sync(ALL, v, k);
    }
    out[i] = v;
}
