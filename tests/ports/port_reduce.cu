/* port_reduce.cu - reductions in typical CUDA style: trees, warps, last blocks, segments, counters. */
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

/* Returns the sum of all threads' values, in thread 0. */
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

/* ---- A tree in dynamic shared memory: two elements per thread, one sum per block ---- */

#pragma cf kernel blocks(CEIL_DIV(n, 512)) block(256) shared(256 * sizeof(T)) in(x[n]) out(sums[CEIL_DIV(n, 512)]) \
    tolerance(1e-5) flops(1.0 * n) bytes(sizeof(T) * n)
#pragma cf instances(f32: float; f64: double; i32: int; u64: unsigned long long)
template <typename T> __global__ void tree_sum(const T *__restrict__ x, T *__restrict__ sums, int n)
{
    extern __shared__ __align__(16) unsigned char memory[];
    T *tile = reinterpret_cast<T *>(memory);
    const unsigned int tid = threadIdx.x;
    const unsigned int i = blockIdx.x * (blockDim.x * 2) + tid;

    T sum = i < n ? x[i] : T(0);
    if (i + blockDim.x < n)
        sum += x[i + blockDim.x];
    tile[tid] = sum;
    __syncthreads();

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            tile[tid] += tile[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
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

/* ---- Two stages in one launch: the last block adds the results of the others ---- */

__device__ unsigned int blocks_done = 0;

/* Sums n elements; 0 if there are none. */
#pragma cf kernel blocks(max(1, min(64, CEIL_DIV(n, 1024)))) block(256) in(x[n]) out(sum[1]) scratch(partial[64]) \
    tolerance(1e-5)
__global__ void last_block_sum(const float *__restrict__ x, float *sum, volatile float *partial, unsigned int n)
{
    __shared__ bool is_last;
    float mine = 0;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += x[i];
    mine = block_reduce<float, 256>(mine);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
        __threadfence();
        unsigned int ticket = atomicInc(&blocks_done, gridDim.x - 1);
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last)
        return;
    __threadfence();
    float total = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.0f;
    total = block_reduce<float, 256>(total);
    if (threadIdx.x == 0)
        *sum = total;
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

/* Finds the index of the minimum in each row of `cols` elements, the first if there are equal ones. */
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

/* Sums x[begins[s]] to x[begins[s + 1] - 1] into sums[s]; 0 for empty segments. */
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

/* ---- Monte Carlo: one generator per thread, and a sum of integers ---- */

struct xorshift {
    uint32_t a, b, c, d;

    __device__ explicit xorshift(uint64_t seed)
    {
        for (uint32_t *word = &a; word <= &d; word++) {
            seed += 0x9e3779b97f4a7c15ull;
            uint64_t z = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9ull;
            *word = (uint32_t)(z >> 32) | 1u;
        }
    }

    __device__ uint32_t operator()()
    {
        uint32_t t = d ^ (d << 11);
        d = c, c = b, b = a;
        return a = a ^ (a >> 19) ^ t ^ (t >> 8);
    }

    __device__ float uniform()
    {
        return (float)((*this)() >> 8) * 0x1p-24f;
    }
};

/* Counts how many of each thread's `throws` points are in the quarter circle. */
#pragma cf kernel grid(threads) block(128) inout(hits[1]) check(throws >= 0)
__global__ void __launch_bounds__(128) monte_carlo_pi(unsigned long long *hits, uint64_t seed, int throws, int threads)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int inside = 0;
    if (thread < threads) {
        xorshift random(seed + (uint64_t)thread * 0x632be59bd9b4e019ull);
        for (int i = 0; i < throws; i++) {
            float x = random.uniform(), y = random.uniform();
            inside += __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 1.0f;
        }
    }
    inside = block_reduce<unsigned int, 128>(inside);
    if (threadIdx.x == 0 && inside)
        atomicAdd(hits, (unsigned long long)inside);
}
