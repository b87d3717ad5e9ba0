/* port_reduce.cu - reductions and scans as CUDA code typically has them: warps, segments, votes. */
#include <float.h>
#include <stdint.h>

#define FULL_MASK 0xffffffffu
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

template <typename T> __device__ __forceinline__ T warp_reduce(T value)
{
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset >>= 1)
        value += __shfl_down_sync(FULL_MASK, value, offset);
    return value;
}

/* Returns the sum of the values of all threads; the result is valid in thread 0 only. */
template <typename T, int BLOCK> __device__ T block_reduce(T value)
{
    __shared__ T warp_sums[BLOCK / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    value = warp_reduce(value);
    if (lane == 0)
        warp_sums[warp] = value;
    __syncthreads();
    value = threadIdx.x < BLOCK / 32 ? warp_sums[lane] : T(0);
    if (warp == 0)
        value = warp_reduce(value);
    return value;
}

/* ---- Warps, a grid-stride loop, and one atomic addition per block ---- */

#pragma cf kernel blocks(min(CEIL_DIV(n, BLOCK), 32)) block(BLOCK) in(x[n], y[n]) inout(dot[1]) \
    tolerance(1e-5 * BLOCK) flops(2.0 * n) bytes(2.0 * n * sizeof(T))
#pragma cf instances(f32: float, 128; f64: double, 256)
template <typename T, int BLOCK>
__global__ void __launch_bounds__(BLOCK) warp_dot(const T *__restrict__ x, const T *__restrict__ y, T *dot, int64_t n)
{
    T sum = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        sum += x[i] * y[i];
    sum = block_reduce<T, BLOCK>(sum);
    if (threadIdx.x == 0)
        atomicAdd(dot, sum);
}

/* Counts the elements above 0. */
#pragma cf kernel grid(n) block(128) in(x[n]) inout(count[1])
__global__ void count_positive(const float *x, unsigned int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int sum = block_reduce<unsigned int, 128>(i < n && x[i] > 0);
    if (threadIdx.x == 0 && sum)
        atomicAdd(count, sum);
}

/* ---- The index of the minimum: pairs go through shuffles ---- */

struct candidate {
    float value;
    int index;
};

__device__ __forceinline__ candidate better(candidate a, candidate b)
{
    return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

__device__ candidate warp_best(candidate mine)
{
    for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2) {
        candidate other;
        other.value = __shfl_xor_sync(FULL_MASK, mine.value, lane_mask);
        other.index = __shfl_xor_sync(FULL_MASK, mine.index, lane_mask);
        mine = better(mine, other);
    }
    return mine;
}

/* Finds the index of the minimum of each row of `cols` elements; of equal elements, the first one. */
#pragma cf kernel blocks(rows) block(64) in(x[rows][cols]) out(place[rows]) check(cols > 0)
extern "C" __global__ void row_argmin(const float *x, int *place, int rows, int cols)
{
    __shared__ candidate best[2];
    const float *row = x + (size_t)blockIdx.x * cols;
    candidate mine = {FLT_MAX, INT_MAX};
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        mine = better(mine, candidate{row[i], i});
    mine = warp_best(mine);
    if (threadIdx.x % warpSize == 0)
        best[threadIdx.x / warpSize] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
        place[blockIdx.x] = better(best[0], best[1]).index;
}

/* ---- Segments: one warp each, four warps in a 2D block ---- */

/* Stores the sum of x[begins[s]] to x[begins[s + 1] - 1] in sums[s], which is 0 for an empty segment. */
#pragma cf kernel blocks(CEIL_DIV(segments, 4)) block(32, 4) in(x[n], begins[segments + 1]) out(sums[segments]) \
    check(0 <= begins[:] <= n) tolerance(1e-5)
__global__ void segment_sum(const double *x, const int *begins, double *sums, int segments, int n)
{
    const int segment = blockIdx.x * blockDim.y + threadIdx.y;
    if (segment >= segments)
        return;
    double sum = 0;
    for (int i = begins[segment] + (int)threadIdx.x, end = begins[segment + 1]; i < end; i += 32)
        sum += x[i];
    sum = warp_reduce(sum);
    if (threadIdx.x == 0)
        sums[segment] = sum;
}

/* ---- An inclusive scan of rows by warps: shuffles up, then the warps' sums ---- */

template <typename T> __device__ T warp_inclusive(T value, int lane)
{
#pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) {
        T below = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance)
            value += below;
    }
    return value;
}

/* Scans each row of `cols` elements, one block per row. */
#pragma cf kernel blocks(rows) block(256) in(x[rows][cols]) out(y[rows][cols]) tolerance(1e-4)
#pragma cf instances(i64: int64_t; f32: float)
template <typename T> __global__ void warp_scan(const T *x, T *y, int rows, int cols)
{
    __shared__ T warp_sums[8];
    __shared__ T carry;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        carry = 0;
    for (int begin = 0; begin < cols; begin += blockDim.x) {
        const int col = begin + threadIdx.x;
        const size_t at = (size_t)blockIdx.x * cols + col;
        T value = warp_inclusive(col < cols ? x[at] : T(0), lane);
        if (lane == 31)
            warp_sums[warp] = value;
        __syncthreads();
        if (warp == 0) {
            T sum = lane < 8 ? warp_sums[lane] : T(0);
            sum = warp_inclusive(sum, lane);
            if (lane < 8)
                warp_sums[lane] = sum;
        }
        __syncthreads();
        value += carry + (warp ? warp_sums[warp - 1] : T(0));
        if (col < cols)
            y[at] = value;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1)
            carry = value;
        __syncthreads();
    }
}

/* ---- Compaction: one addition for the threads of a warp that are still active ---- */

/* Stores the elements above a limit at the front of `kept`, in any order, and adds their number to `count`. */
#pragma cf kernel grid(n) in(x[n]) inout(kept[n], count[1])
__global__ void compact_active(const int *x, int *kept, unsigned int *count, int limit, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || x[i] <= limit)
        return;
    const unsigned int active = __activemask();
    const unsigned int lane = threadIdx.x % warpSize;
    const int leader = __ffs(active) - 1;
    unsigned int base;
    if (lane == leader)
        base = atomicAdd(count, __popc(active));
    base = __shfl_sync(active, base, leader);
    kept[base + __popc(active & ~(0xffffffffu << lane))] = x[i];
}

/* ---- Digits ---- */

/* Counts the four-bit digits in each section of 128 keys. Each key also gets its rank among the equal digits of its
 * warp, whose lanes match their digits. */
#pragma cf kernel blocks(CEIL_DIV(n, 128)) block(128) in(keys[n]) out(counts[CEIL_DIV(n, 128)][16], ranks[n]) \
    check(0 <= shift <= 28)
__global__ void digit_count(const uint32_t *keys, unsigned int *counts, unsigned int *ranks, int shift, int n)
{
    __shared__ unsigned int local[16];
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    const unsigned int in_range = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
        const unsigned int digit = keys[i] >> shift & 15;
        const unsigned int peers = __match_any_sync(in_range, digit);
        const unsigned int lower = (1u << (threadIdx.x & 31)) - 1;
        ranks[i] = __popc(peers & lower);
        if ((peers & lower) == 0)
            atomicAdd(&local[digit], __popc(peers));
    }
    __syncthreads();
    if (threadIdx.x < 16)
        counts[blockIdx.x * 16 + threadIdx.x] = local[threadIdx.x];
}
