/* blocks - sums of blocks of 65,536 elements, with the same bits on GPUs and on the CPU. Each of 1,024 lanes adds up
 * every 1,024th element; then a tree adds up the lanes, in each step the upper half to the lower one. */
#include <math.h>
#include <stdint.h>

#define BLOCKS_EACH 65536
#define BLOCKS_LANES 1024
#define BLOCKS_OF(n) ((n) / BLOCKS_EACH + ((n) % BLOCKS_EACH > 0))

__device__ __forceinline__ float blocks_fused(float x, float y, float total)
{
    return fmaf(x, y, total);
}

__device__ __forceinline__ double blocks_fused(double x, double y, double total)
{
    return fma(x, y, total);
}

/* Adds two elements; integers wrap around. */
template <typename T> __device__ __forceinline__ T blocks_plus(T a, T b)
{
    if constexpr ((T)0.5 == (T)0)
        return (T)((uint64_t)a + (uint64_t)b);
    else
        return a + b;
}

/* Adds an element or a product with a single rounding. Without this, compilers for GPUs and for the CPU would round
 * differently. */
template <bool is_dot, typename T> __device__ __forceinline__ T blocks_take(T total, T x, T y)
{
    if constexpr (!is_dot)
        return blocks_plus(total, x);
    else if constexpr ((T)0.5 == (T)0)
        return (T)((uint64_t)total + (uint64_t)x * (uint64_t)y);
    else
        return blocks_fused(x, y, total);
}

/* Returns the sum of up to BLOCKS_EACH elements. On a GPU all threads of a block call it, and thread 0 gets the sum. */
template <bool is_dot, typename T>
__device__ __forceinline__ T blocks_add(const T *__restrict__ x, const T *__restrict__ y, int count)
{
#ifdef __CUDA_ARCH__
    __shared__ T lanes[BLOCKS_LANES];
    T total = 0;
#pragma unroll 8
    for (int i = threadIdx.x; i < count; i += BLOCKS_LANES)
        total = blocks_take<is_dot>(total, x[i], y[i]);
    lanes[threadIdx.x] = total;
    for (int half = BLOCKS_LANES / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            lanes[threadIdx.x] = blocks_plus(lanes[threadIdx.x], lanes[threadIdx.x + half]);
    }
#else
    alignas(64) T lanes[BLOCKS_LANES] = {};
    for (int first = 0; first < count; first += BLOCKS_LANES) {
        const int here = count - first < BLOCKS_LANES ? count - first : BLOCKS_LANES;
        for (int i = 0; i < here; i++)
            lanes[i] = blocks_take<is_dot>(lanes[i], x[first + i], y[first + i]);
    }
    for (int half = BLOCKS_LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] = blocks_plus(lanes[i], lanes[i + half]);
#endif
    return lanes[0];
}

template <bool is_dot, typename T>
__device__ __forceinline__ void blocks_write(const T *x, const T *y, T *sums, int64_t n)
{
    const int64_t begin = (int64_t)blockIdx.x * BLOCKS_EACH;
    const T sum = blocks_add<is_dot>(x + begin, y + begin, (int)(n - begin < BLOCKS_EACH ? n - begin : BLOCKS_EACH));
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* Writes the sum of each block of 65,536 elements of x, and the sum of the remaining elements. */
#pragma cf kernel blocks(BLOCKS_OF(n)) block(BLOCKS_LANES) host(grid(BLOCKS_OF(n))) in(x[n]) out(sums[BLOCKS_OF(n)]) \
    bytes(1.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(BLOCKS_LANES) block_sums(const T *x, T *sums, int64_t n)
{
    blocks_write<false>(x, x, sums, n);
}

/* Writes the inner product of each block of 65,536 elements of x and y, and that of the remaining elements. */
#pragma cf kernel blocks(BLOCKS_OF(n)) block(BLOCKS_LANES) host(grid(BLOCKS_OF(n))) in(x[n], y[n]) \
    out(sums[BLOCKS_OF(n)]) bytes(2.0 * n * sizeof(T)) flops(2.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(BLOCKS_LANES) block_dots(const T *x, const T *y, T *sums, int64_t n)
{
    blocks_write<true>(x, y, sums, n);
}
