/* port_scan.cu - scans, sorts and counts in typical CUDA style: trees, shuffles, votes, shared atomics. */
#include <stdint.h>

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

/* ---- Blelloch's exclusive scan, with padding against bank conflicts ---- */

#define LOG_BANKS 5
#define PADDED(i) ((i) + ((i) >> LOG_BANKS))
#define SCAN_BLOCK 128
#define SCAN_ITEMS (2 * SCAN_BLOCK)

/* Scans each section of 256 elements and stores the sections' sums. */
#pragma cf kernel blocks(CEIL_DIV(n, SCAN_ITEMS)) block(SCAN_BLOCK) in(x[n]) out(y[n], sums[CEIL_DIV(n, SCAN_ITEMS)])
__global__ void blelloch(const unsigned int *__restrict__ x, unsigned int *__restrict__ y, unsigned int *sums, int n)
{
    __shared__ unsigned int tile[PADDED(SCAN_ITEMS)];
    const int tid = threadIdx.x, base = blockIdx.x * SCAN_ITEMS;
    const int a = tid, b = tid + SCAN_BLOCK;
    tile[PADDED(a)] = base + a < n ? x[base + a] : 0;
    tile[PADDED(b)] = base + b < n ? x[base + b] : 0;

    int offset = 1;
    for (int d = SCAN_BLOCK; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int left = PADDED(offset * (2 * tid + 1) - 1), right = PADDED(offset * (2 * tid + 2) - 1);
            tile[right] += tile[left];
        }
        offset *= 2;
    }
    if (tid == 0) {
        sums[blockIdx.x] = tile[PADDED(SCAN_ITEMS - 1)];
        tile[PADDED(SCAN_ITEMS - 1)] = 0;
    }
    for (int d = 1; d < SCAN_ITEMS; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int left = PADDED(offset * (2 * tid + 1) - 1), right = PADDED(offset * (2 * tid + 2) - 1);
            unsigned int kept = tile[left];
            tile[left] = tile[right];
            tile[right] += kept;
        }
    }
    __syncthreads();
    if (base + a < n)
        y[base + a] = tile[PADDED(a)];
    if (base + b < n)
        y[base + b] = tile[PADDED(b)];
}

/* Adds to each section the sum of the sections before it. */
#pragma cf kernel blocks(CEIL_DIV(n, SCAN_ITEMS)) block(SCAN_ITEMS) in(before[CEIL_DIV(n, SCAN_ITEMS)]) inout(y[n])
__global__ void add_before(const unsigned int *before, unsigned int *y, int n)
{
    int i = blockIdx.x * SCAN_ITEMS + threadIdx.x;
    if (i < n)
        y[i] += before[blockIdx.x];
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

/* ---- Compaction: a vote, and one addition per warp ---- */

/* Stores the elements above a limit, in any order, at the front of `kept`; adds their number to `count`. */
#pragma cf kernel grid(n) in(x[n]) inout(kept[n], count[1])
__global__ void compact(const int *x, int *kept, unsigned int *count, int limit, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = i < n ? x[i] : 0;
    const bool is_kept = i < n && value > limit;
    const unsigned int votes = __ballot_sync(0xffffffff, is_kept);
    const int lane = threadIdx.x & 31, leader = __ffs(votes) - 1;
    unsigned int base = 0;
    if (votes == 0)
        return;
    if (lane == leader)
        base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffff, base, leader);
    if (is_kept)
        kept[base + __popc(votes & ((1u << lane) - 1))] = value;
}

/* The same with the group of threads that are still active. */
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

/* ---- Bitonic sort in shared memory ---- */

template <typename T> __device__ __forceinline__ void compare_exchange(T &a, T &b, bool is_up)
{
    if ((a > b) == is_up) {
        T kept = a;
        a = b;
        b = kept;
    }
}

template <typename T> struct greatest;
template <> struct greatest<int> {
    static constexpr int value = 0x7fffffff;
};
template <> struct greatest<float> {
    static constexpr float value = __builtin_inff();
};

/* Sorts each section of ITEMS elements. */
#pragma cf kernel blocks(CEIL_DIV(n, ITEMS)) block(ITEMS / 2) inout(x[n])
#pragma cf instances(i32_64: int, 64; i32_1024: int, 1024; f32_256: float, 256)
template <typename T, int ITEMS> __global__ void __launch_bounds__(ITEMS / 2) bitonic_sort(T *x, int64_t n)
{
    __shared__ T tile[ITEMS];
    const int64_t base = (int64_t)blockIdx.x * ITEMS;
    for (int i = threadIdx.x; i < ITEMS; i += ITEMS / 2)
        tile[i] = base + i < n ? x[base + i] : greatest<T>::value;
    for (int size = 2; size <= ITEMS; size <<= 1)
        for (int stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            int at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            compare_exchange(tile[at], tile[at + stride], (threadIdx.x & (size / 2)) == 0);
        }
    __syncthreads();
    for (int i = threadIdx.x; i < ITEMS; i += ITEMS / 2)
        if (base + i < n)
            x[base + i] = tile[i];
}

/* ---- Histograms ---- */

/* Adds the frequency of each byte; each block has a histogram in shared memory. */
#pragma cf kernel blocks(min(16, CEIL_DIV(n, 256))) block(256) in(bytes[n]) inout(bins[256])
__global__ void histogram(const uint8_t *__restrict__ bytes, unsigned int *bins, size_t n)
{
    __shared__ unsigned int local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        atomicAdd(&local[bytes[i]], 1);
    __syncthreads();
    if (local[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

/* Counts the four-bit digits in each section of 128 keys, and ranks each key among the equal digits of its warp,
 * whose lanes find each other. */
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
