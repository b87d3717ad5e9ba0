/* histogram - how many elements of an array fall into each of some bins of the same width */
#include <stdint.h>
#include <string.h>

#include "stream.cuh"

/* Bins that a block counts in its shared memory; what has more is counted in memory. Blocks that count little each
 * would spend their time on adding up. */
#define HISTOGRAM_THREADS 256
#define HISTOGRAM_SHARED 8192
#define HISTOGRAM_ENOUGH (bins > 4096 && bins <= HISTOGRAM_SHARED ? n / 32768 : n / 16384)
#define HISTOGRAM_BLOCKS (HISTOGRAM_ENOUGH < 1 ? 1 : HISTOGRAM_ENOUGH < 792 ? HISTOGRAM_ENOUGH : 792)

/* ---- Which bin ---- */

/* Of floats: in their own type, with halves, so that no difference overflows. What is rounded up past the last bin, or
 * down past the first, is in it. */
template <typename T> struct histogram_range {
    T lower, upper, half, scale;
    int64_t bins;

    __device__ __forceinline__ histogram_range(T from, T to, int64_t count)
        : lower(from), upper(to), half((T)0.5 * from), scale((T)count / ((T)0.5 * to - (T)0.5 * from)), bins(count)
    {
    }
    /* `index` is as wide as numbers of bins can be. -1: in none. */
    template <typename index> __device__ __forceinline__ index bin(T x) const
    {
        const T place = ((T)0.5 * x - half) * scale;
        const index last = (index)(bins - 1), found = place >= (T)last ? last : place > 0 ? (index)place : 0;
        return x >= lower && x < upper ? found : (index)-1;
    }
};

/* Of integers: exactly. The quotient of doubles is off by one at most, but where there are very many bins. */
template <typename T, typename U, typename product> struct histogram_whole_range {
    T lower, upper;
    U width;
    double scale;
    int64_t bins;

    __device__ __forceinline__ histogram_whole_range(T from, T to, int64_t count)
        : lower(from), upper(to), width((U)((U)to - (U)from)), scale((double)count / (double)width), bins(count)
    {
    }
    template <typename index> __device__ __forceinline__ index bin(T x) const
    {
        if (x < lower || x >= upper)
            return (index)-1;
        const U distance = (U)((U)x - (U)lower);
        if ((uint64_t)width == (uint64_t)bins)
            return (index)distance;
        const product all = (product)distance * (product)bins;
        product found = (product)((double)distance * scale);
        while (found * width > all)
            found--;
        while ((found + 1) * width <= all)
            found++;
        return (index)found;
    }
};
template <> struct histogram_range<int32_t> : histogram_whole_range<int32_t, uint32_t, uint64_t> {
    using histogram_whole_range::histogram_whole_range;
};
template <> struct histogram_range<int64_t> : histogram_whole_range<int64_t, uint64_t, unsigned __int128> {
    using histogram_whole_range::histogram_whole_range;
};

/* ---- Counting ---- */

__device__ __forceinline__ void histogram_add(int32_t *count, uint32_t more)
{
    atomicAdd(reinterpret_cast<unsigned int *>(count), more);
}

__device__ __forceinline__ void histogram_add(int64_t *count, uint32_t more)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(count), (unsigned long long)more);
}

#ifdef __CUDA_ARCH__

/* Calls count(x) for all elements: for pieces of 16 bytes, of which a thread loads up to four at once, and for those in
 * front of the first and behind the last one. */
template <typename T, typename Count> __device__ __forceinline__ void histogram_pass(const T *x, int64_t n, Count count)
{
    constexpr int N = 16 / sizeof(T), together = 4;
    const int to_piece = stream_head<N>(x), head = to_piece < n ? to_piece : (int)n;
    const int64_t pieces = (n - head) / N, step = (int64_t)gridDim.x * HISTOGRAM_THREADS;
    const int64_t thread = (int64_t)blockIdx.x * HISTOGRAM_THREADS + threadIdx.x;
    const T *body = x + head;
    for (int64_t first = thread; first < pieces; first += step * together) {
        stream_piece<T, N> piece[together];
#pragma unroll
        for (int k = 0; k < together; k++)
            if (first + k * step < pieces)
                piece[k] = stream_load<T, N, false>(body + (first + k * step) * N);
#pragma unroll
        for (int k = 0; k < together; k++)
            if (first + k * step < pieces)
#pragma unroll
                for (int e = 0; e < N; e++)
                    count(piece[k].at[e]);
    }
    if (thread < head)
        count(x[thread]);
    if (thread < n - head - pieces * N)
        count(x[head + pieces * N + thread]);
}

/* Each block counts for itself. Few bins have copies, so that lanes of a warp, of which each has its copy where
 * there are 32, do not meet where all elements are alike. */
template <typename T, typename I>
__device__ __forceinline__ void histogram_shared(const T *x, I *counts, int64_t n, const histogram_range<T> &range)
{
    __shared__ unsigned int own[HISTOGRAM_SHARED];
    const int bins = (int)range.bins;
    int copies = 32;
    while (bins * copies > HISTOGRAM_SHARED)
        copies /= 2;
    for (int i = threadIdx.x; i < bins * copies; i += HISTOGRAM_THREADS)
        own[i] = 0;
    __syncthreads();
    unsigned int *mine = own + threadIdx.x % copies;
    histogram_pass(x, n, [=, &range](T element) {
        const int bin = range.template bin<int>(element);
        if (bin >= 0)
            atomicAdd(mine + bin * copies, 1u);
    });
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += HISTOGRAM_THREADS) {
        unsigned int all = 0;
        for (int c = 0; c < copies; c++)
            all += own[i * copies + (c + i) % copies];
        if (all)
            histogram_add(counts + i, all);
    }
}

/* A thread keeps the count of one bin, which most of its elements are in where there is such a bin: where many are
 * alike, few meet in memory. The bin is found as in a vote, in which two that differ take each other's. */
template <typename T, typename I>
__device__ __forceinline__ void histogram_global(const T *x, I *counts, int64_t n, const histogram_range<T> &range)
{
    long long kept = 0;
    unsigned int count = 0, votes = 0;
    histogram_pass(x, n, [&, counts](T element) {
        const long long bin = range.template bin<long long>(element);
        if (bin < 0)
            return;
        if (votes && bin != kept) {
            votes--;
            histogram_add(counts + bin, 1);
            return;
        }
        if (bin != kept) {
            if (count)
                histogram_add(counts + kept, count);
            kept = bin;
            count = 0;
        }
        count++;
        votes++;
    });
    if (count)
        histogram_add(counts + kept, count);
}

#else

/* A thread for a block. Neighbouring elements are counted apart, so that an addition need not wait for the last one. */
template <typename T, typename I>
__device__ __forceinline__ void histogram_part(const T *x, I *counts, int64_t n, const histogram_range<T> &range)
{
    enum { COPIES = 4, FEW = 2048 };
    uint32_t own[HISTOGRAM_SHARED];
    const int64_t bins = range.bins, apart = bins <= FEW ? bins : 0;
    if (bins > HISTOGRAM_SHARED) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t bin = range.template bin<int64_t>(x[i]);
            if (bin >= 0)
                histogram_add(counts + bin, 1);
        }
        return;
    }
    memset(own, 0, (size_t)(apart ? COPIES * bins : bins) * sizeof *own);
    int64_t i = 0;
    for (; i + COPIES <= n; i += COPIES)
        for (int copy = 0; copy < COPIES; copy++) {
            const int bin = range.template bin<int>(x[i + copy]);
            if (bin >= 0)
                own[copy * apart + bin]++;
        }
    for (; i < n; i++) {
        const int bin = range.template bin<int>(x[i]);
        if (bin >= 0)
            own[bin]++;
    }
    for (int64_t bin = 0; bin < bins; bin++) {
        uint32_t all = own[bin];
        for (int copy = 1; copy < COPIES && apart; copy++)
            all += own[copy * apart + bin];
        if (all)
            histogram_add(counts + bin, all);
    }
}

#endif

/* Sets counts[b] to how many of n elements of x lie in bin b: the bins are parts of [lower, upper), all of the same
 * width, each with its lower bound and without its upper one. What is outside is not counted, nor is NaN. Of floats
 * the bin is worked out in their type, (x - lower) bins / (upper - lower), rounded down; of integers it is exact, so
 * that each has a bin of its own where upper - lower is bins. Counts of int32_t wrap. counts and x must not overlap;
 * the plain call checks that. */
#pragma cf kernel blocks(HISTOGRAM_BLOCKS) block(HISTOGRAM_THREADS) host(grid(HISTOGRAM_BLOCKS)) in(x[n]) \
    out(counts[bins]) zero(counts) check(bins >= 1, lower < upper) \
    bytes(1.0 * n * sizeof(T) + 1.0 * bins * sizeof(I)) flops(0)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; \
    f64_i64: double, int64_t; i32_i32: int32_t, int32_t; i32_i64: int32_t, int64_t; i64_i32: int64_t, int32_t; \
    i64_i64: int64_t, int64_t)
template <typename T, typename I>
__global__ void __launch_bounds__(HISTOGRAM_THREADS, 6)
    histogram(const T *__restrict__ x, T lower, T upper, I *__restrict__ counts, int64_t n, int64_t bins)
{
    const histogram_range<T> range(lower, upper, bins);
#ifdef __CUDA_ARCH__
    if (bins <= HISTOGRAM_SHARED)
        histogram_shared(x, counts, n, range);
    else
        histogram_global(x, counts, n, range);
#else
    const int64_t blocks = HISTOGRAM_BLOCKS, part = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (part >= blocks)
        return;
    const int64_t each = n / blocks, more = n % blocks, first = part * each + (part < more ? part : more);
    histogram_part(x + first, counts, each + (part < more), range);
#endif
}
