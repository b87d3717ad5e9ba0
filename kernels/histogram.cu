/* histogram - the number of elements of an array in each of some bins of the same width */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "share.cuh"
#include "stream.cuh"

/* Up to HISTOGRAM_SHARED bins are counted in a block's shared memory, a larger number in global memory. A block has so
 * many elements that adding its bins to the result takes little of its time. */
#define HISTOGRAM_THREADS 512
#define HISTOGRAM_SHARED 8192

/* Number of blocks that run on a multiprocessor at once. Registers suffice for three, or for two with elements of 8
 * bytes; Turing's shared memory suffices for two. An H100 or an H200 runs HISTOGRAM_MOST blocks. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define HISTOGRAM_RESIDENT 2
#else
#define HISTOGRAM_RESIDENT (sizeof(T) == 4 ? 3 : 2)
#endif
#define HISTOGRAM_MOST (sizeof(T) == 4 ? 396 : 264)

#define HISTOGRAM_EACH(least, most) (bins > HISTOGRAM_SHARED || (most)*bins < (least) ? (least) : (most)*bins)
#define HISTOGRAM_SPLIT(each) (n / (each) < 1 ? 1 : n / (each) < HISTOGRAM_MOST ? n / (each) : HISTOGRAM_MOST)
#define HISTOGRAM_BLOCKS HISTOGRAM_SPLIT(HISTOGRAM_EACH(8192, 4))

/* Number of parts on the CPU, which is smaller because adding up takes longer there. */
#define HISTOGRAM_PARTS HISTOGRAM_SPLIT(HISTOGRAM_EACH(65536, 64))

/* ---- Which bin ---- */

template <typename T> struct histogram_bits;
template <> struct histogram_bits<float> {
    typedef uint32_t type;
    typedef int32_t whole;
    static constexpr float integers = 12582912.0f;           /* 1.5 * 2^23: adding it rounds to an integer */
    static constexpr float least = FLT_MIN, error = 2.4e-7f; /* 4 * 2^-24 */
};
template <> struct histogram_bits<double> {
    typedef uint64_t type;
    typedef int64_t whole;
    static constexpr double integers = 6755399441055744.0;    /* 1.5 * 2^52 */
    static constexpr double least = DBL_MIN, error = 1.2e-15; /* 10 * 2^-53 */
};

/* The edges between the bins of floats. */
template <typename T> struct histogram_edges {
    T lower, upper;
    double low, width, back; /* an edge is (low + bin * width) * back, where back is 2 if upper - lower overflows */
    int64_t bins;

    __device__ __forceinline__ histogram_edges(T from, T to, int64_t count) : lower(from), upper(to), bins(count)
    {
        const bool is_wide = !((double)to - (double)from <= DBL_MAX);
        const double unit = is_wide ? 0.5 : 1;
        back = is_wide ? 2 : 1;
        low = unit * (double)from;
        width = (unit * (double)to - low) / (double)count;
    }
    __device__ __forceinline__ double edge(int64_t bin) const
    {
        if (bin <= 0 || bin >= bins)
            return (double)(bin <= 0 ? lower : upper);
        return __dmul_rn(__dadd_rn(low, __dmul_rn((double)bin, width)), back);
    }
};

/* Returns the bin of an x in [lower, upper) by comparing with edges. A division finds the bin or a neighbour of it,
 * unless edges coincide. The function is not inlined, because few ranges need it and its registers would be missing in
 * loops. */
template <typename T> static __device__ __noinline__ int64_t histogram_search(T x, T lower, T upper, int64_t bins)
{
    const histogram_edges<T> edges(lower, upper, bins);
    const double place = ((double)x / edges.back - edges.low) / edges.width;
    const int64_t guess = place < (double)(bins - 1) ? (place > 0 ? (int64_t)place : 0) : bins - 1;
    int64_t first = 0, end = bins;
    if (x < edges.edge(guess)) {
        end = guess;
        if (x >= edges.edge(guess - 1))
            return guess - 1;
    } else {
        first = guess;
        if (x < edges.edge(guess + 1))
            return guess;
    }
    while (end - first > 1) {
        const int64_t middle = first + (end - first) / 2;
        (x < edges.edge(middle) ? end : first) = middle;
    }
    return first;
}

/* Bins of floats: x is in bin i if edge(i) <= x < edge(i + 1). For nearly all elements, an estimate in T is enough to
 * find the bin; elements too near to an edge are compared with the edge. */
template <typename T> struct histogram_range {
    typedef typename histogram_bits<T>::type U;
    typedef typename histogram_bits<T>::whole whole;
    T lower, upper;
    double width;
    T scale, offset; /* x * scale + offset is the position of x in units of bins, minus 0.5 */
    T certain;       /* the bin is certain if x is this near to its middle; -1: never */
    int64_t bins;

    __device__ __forceinline__ histogram_range(T from, T to, int64_t count) : lower(from), upper(to), bins(count)
    {
        width = ((double)to - (double)from) / (double)count;
        scale = (T)count / (to - from);
        offset = (T)-0.5 - from * scale;
        const T error = histogram_bits<T>::error * ((T)count + (T)fabs(offset));
        certain = scale >= histogram_bits<T>::least && error < (T)0.25 ? (T)0.5 - error : (T)-1;
    }
    __device__ __forceinline__ bool is_estimated() const
    {
        return certain >= 0;
    }
    __device__ __forceinline__ T place(T x) const
    {
        return x * scale + offset;
    }
    /* Returns the position of x, limited to [-1, bins]; that of NaN is -1. */
    __device__ __forceinline__ T clamped(T x) const
    {
        const T at = place(x), most = (T)bins, low = at > -1 ? at : -1;
        return low < most ? low : most;
    }
    /* Returns the integer nearest to a position; it wraps. `distance` becomes the position minus that integer. */
    __device__ __forceinline__ whole nearest(T place, T &distance) const
    {
        const T zero = histogram_bits<T>::integers, sum = place + zero;
        U bits, of_zero;
        memcpy(&bits, &sum, sizeof bits);
        memcpy(&of_zero, &zero, sizeof of_zero);
        distance = place - (sum - zero);
        return (whole)(bits - of_zero);
    }
    /* Returns the lower edge of a bin, in a range that has estimates; bin = bins gives the upper edge of the last
     * bin. */
    __device__ __forceinline__ double edge(int64_t bin) const
    {
        const double inner = __dadd_rn((double)lower, __dmul_rn((double)bin, width));
        return bin <= 0 ? (double)lower : bin >= bins ? (double)upper : inner;
    }
    /* Returns the number of the edge that is nearest to x. */
    __device__ __forceinline__ whole nearest_edge(T x) const
    {
        T distance;
        const whole at = nearest(clamped(x), distance), edge = at + (distance > 0);
        return edge > 0 ? edge : 0;
    }
    /* Returns -1 or bins if x is in no bin. */
    __device__ __forceinline__ int64_t find(T x) const
    {
        if (!is_estimated())
            return x >= lower && x < upper ? histogram_search(x, lower, upper, bins) : -1;
        T distance;
        const whole at = nearest(clamped(x), distance), bin = at + (distance > 0);
        if (fabs(distance) <= certain)
            return at;
        return (bin > 0 ? bin : 0) - !((double)x >= edge(bin));
    }
};

/* Returns the least T that is not below an edge. */
__device__ __forceinline__ float histogram_bound(float, double edge)
{
    return __double2float_ru(edge);
}
__device__ __forceinline__ double histogram_bound(double, double edge)
{
    return edge;
}

/* Bins of integers, which are exact. A quotient in double is off by at most one, except with very many bins. */
template <typename T, typename U, typename product> struct histogram_whole_range {
    T lower, upper;
    U width;
    double scale;
    int64_t bins;

    __device__ __forceinline__ histogram_whole_range(T from, T to, int64_t count)
        : lower(from), upper(to), width((U)((U)to - (U)from)), scale((double)count / (double)width), bins(count)
    {
    }
    __device__ __forceinline__ bool is_estimated() const
    {
        return true;
    }
    __device__ __forceinline__ int64_t find(T x) const
    {
        if (x < lower || x >= upper)
            return -1;
        const U distance = (U)((U)x - (U)lower);
        if ((uint64_t)width == (uint64_t)bins)
            return (int64_t)distance;
        const product all = (product)distance * (product)bins;
        product found = (product)((double)distance * scale);
        while (found * width > all)
            found--;
        while ((found + 1) * width <= all)
            found++;
        return (int64_t)found;
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

/* Passes over a thread's elements. Calls prepare() when the first loads are in flight, then count(x) for pieces of 16
 * bytes, of which up to four are loaded at once, and for each element before the first piece and after the last. */
template <typename T, typename Prepare, typename Count>
__device__ __forceinline__ void histogram_pass(const T *x, int64_t n, Prepare prepare, Count &count)
{
    constexpr int N = 16 / sizeof(T), together = 4;
    const int to_piece = stream_head<N>(x), head = to_piece < n ? to_piece : (int)n;
    const int64_t pieces = (n - head) / N, step = (int64_t)gridDim.x * HISTOGRAM_THREADS;
    const int64_t thread = (int64_t)blockIdx.x * HISTOGRAM_THREADS + threadIdx.x;
    const T *body = x + head;
    stream_piece<T, N> piece[together];
    auto load = [&piece, body, pieces, step](int64_t first) {
#pragma unroll
        for (int k = 0; k < together; k++)
            if (first + k * step < pieces)
                piece[k] = stream_load<T, N>(body + (first + k * step) * N);
    };
    load(thread);
    prepare();
    for (int64_t first = thread; first < pieces; first += step * together) {
        if (first != thread)
            load(first);
#pragma unroll
        for (int k = 0; k < together; k++)
            if (first + k * step < pieces)
                count(piece[k].at);
    }
    if (thread < head)
        count({x[thread]});
    if (thread < n - head - pieces * N)
        count({x[head + pieces * N + thread]});
}

/* Counts a thread's elements in shared memory, where each bin has `1 << shift` copies side by side. */
template <typename T> struct histogram_counter {
    const histogram_range<T> &range;
    const T *bounds; /* all edges, rounded up to T, if has_bounds */
    bool has_bounds;
    unsigned int *own;
    int shift;

    __device__ __forceinline__ void add(int64_t bin) const
    {
        if ((uint64_t)bin < (uint64_t)range.bins)
            atomicAdd(own + ((uint32_t)bin << shift), 1u);
    }
    __device__ __forceinline__ void add(int32_t bin) const
    {
        if ((uint32_t)bin < (uint32_t)range.bins)
            atomicAdd(own + ((uint32_t)bin << shift), 1u);
    }
    /* There is one branch for a whole piece, not one for each element. */
    template <int N> __device__ __forceinline__ void operator()(const T (&x)[N]) const
    {
        if constexpr (share_is_integral<T>()) {
#pragma unroll
            for (int i = 0; i < N; i++)
                add(range.find(x[i]));
        } else {
            typename histogram_range<T>::whole at[N];
            bool are_certain = true;
#pragma unroll
            for (int i = 0; i < N; i++) {
                T distance;
                at[i] = range.nearest(range.place(x[i]), distance);
                are_certain &= fabs(distance) <= range.certain;
            }
            if (are_certain) {
#pragma unroll
                for (int i = 0; i < N; i++)
                    add(at[i]);
            } else {
#pragma unroll
                for (int i = 0; i < N; i++) {
                    const typename histogram_range<T>::whole edge = range.nearest_edge(x[i]);
                    add(edge - !(has_bounds ? x[i] >= bounds[edge] : (double)x[i] >= range.edge(edge)));
                }
            }
        }
    }
};

/* Counts a block's elements in shared memory. If there are few bins, each has several copies, so that fewer threads of
 * a warp add to the same count. */
template <typename T, typename I>
__device__ __forceinline__ void histogram_shared(const T *x, I *counts, int64_t n, const histogram_range<T> &range)
{
    __shared__ alignas(16) unsigned int own[HISTOGRAM_SHARED];
    const int bins = (int)range.bins, of_bounds = share_is_integral<T>() ? 0 : (bins + 1) * (int)(sizeof(T) / 4);
    const bool has_bounds = of_bounds > 0 && bins + of_bounds <= HISTOGRAM_SHARED;
    int shift = 3;
    while (shift > 0 && (bins << shift) + (has_bounds ? of_bounds : 0) > HISTOGRAM_SHARED)
        shift--;
    const int copies = 1 << shift;
    T *const bounds = reinterpret_cast<T *>(own + HISTOGRAM_SHARED - (has_bounds ? of_bounds : 0));
    histogram_counter<T> counter = {range, bounds, has_bounds, own + threadIdx.x % copies, shift};
    auto prepare = [bins, copies, has_bounds, bounds, &range, counters = &own[0]] {
        for (int i = threadIdx.x; i < bins * copies; i += HISTOGRAM_THREADS)
            counters[i] = 0;
        if constexpr (!share_is_integral<T>())
            for (int i = threadIdx.x; i <= bins && has_bounds; i += HISTOGRAM_THREADS)
                bounds[i] = histogram_bound(T(), range.edge(i));
        __syncthreads();
    };
    histogram_pass(x, n, prepare, counter);
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += HISTOGRAM_THREADS) {
        unsigned int all = 0;
        for (int c = 0; c < copies; c++)
            all += own[i * copies + (c + i) % copies];
        if (all)
            histogram_add(counts + i, all);
    }
}

/* Counts a thread's elements in memory. The thread keeps the count of one bin in registers, so that many equal
 * elements cause few atomic operations. A majority vote finds this bin: elements of two bins cancel each other. */
template <typename T, typename I> struct histogram_voter {
    const histogram_range<T> &range;
    I *counts;
    int64_t kept = 0;
    unsigned int count = 0, votes = 0;

    __device__ __forceinline__ void flush()
    {
        if (count)
            histogram_add(counts + kept, count);
        count = 0;
    }
    __device__ __forceinline__ void add(int64_t bin)
    {
        if (votes && bin != kept) {
            votes--;
            histogram_add(counts + bin, 1);
            return;
        }
        if (bin != kept) {
            flush();
            kept = bin;
        }
        count++;
        votes++;
    }
    template <int N> __device__ __forceinline__ void operator()(const T (&x)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int64_t bin = range.find(x[i]);
            if ((uint64_t)bin < (uint64_t)range.bins)
                add(bin);
        }
    }
};

/* Not inlined, so that its registers do not add to those of histogram_shared(). */
template <typename T, typename I>
static __device__ __noinline__ void histogram_global(const T *x, T lower, T upper, I *counts, int64_t n, int64_t bins)
{
    const histogram_range<T> range(lower, upper, bins);
    histogram_voter<T, I> voter = {range, counts};
    histogram_pass(
        x, n, [] {}, voter);
    voter.flush();
}

#else

/* Sets found to the bins of a few elements, counted from 1, and to 0 or bins + 1 for elements in no bin. Floats are
 * estimated with vector instructions, and searched one by one if an estimate is not certain. */
#define HISTOGRAM_FEW 64
template <typename T>
__device__ __forceinline__ void histogram_find(const T *x, int size, const histogram_range<T> &range, uint32_t *found)
{
    bool are_certain = false;
    if constexpr (!share_is_integral<T>()) {
        typename histogram_range<T>::whole uncertain = 0;
        const T certain = range.certain;
        for (int i = 0; i < size; i++) {
            T distance;
            found[i] = (uint32_t)(range.nearest(range.clamped(x[i]), distance) + 1);
            uncertain |= fabs(distance) <= certain ? 0 : 1;
        }
        are_certain = !uncertain;
    }
    for (int i = 0; i < size && !are_certain; i++)
        found[i] = (uint32_t)(range.find(x[i]) + 1);
}

/* Counts one of the CPU's parts. Neighbouring elements are counted in separate copies, so that an addition does not
 * wait for the previous one. */
template <typename T, typename I>
__device__ __forceinline__ void histogram_part(const T *x, I *counts, int64_t n, const histogram_range<T> &range)
{
    enum { COPIES = 4, APART = HISTOGRAM_SHARED / COPIES, BESIDE = 2 };
    uint32_t own[HISTOGRAM_SHARED + COPIES * BESIDE], found[HISTOGRAM_FEW];
    const int64_t bins = range.bins, apart = bins <= APART ? bins + BESIDE : 0;
    if (bins > HISTOGRAM_SHARED) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t bin = range.find(x[i]);
            if ((uint64_t)bin < (uint64_t)bins)
                histogram_add(counts + bin, 1);
        }
        return;
    }
    memset(own, 0, (size_t)(apart ? COPIES * apart : bins + BESIDE) * sizeof *own);
    for (int64_t begin = 0; begin < n; begin += HISTOGRAM_FEW) {
        const int size = n - begin < HISTOGRAM_FEW ? (int)(n - begin) : HISTOGRAM_FEW;
        int i = 0;
        histogram_find(x + begin, size, range, found);
        for (; i + COPIES <= size; i += COPIES)
            for (int copy = 0; copy < COPIES; copy++)
                own[copy * apart + found[i + copy]]++;
        for (; i < size; i++)
            own[found[i]]++;
    }
    for (int64_t bin = 0; bin < bins; bin++) {
        uint32_t all = own[bin + 1];
        for (int copy = 1; copy < COPIES && apart; copy++)
            all += own[copy * apart + bin + 1];
        if (all)
            histogram_add(counts + bin, all);
    }
}

#endif

/* Sets counts[b] to the number of the n elements of x in bin b. The bins divide [lower, upper) into parts of the
 * same width, each with its lower bound and without its upper one. Elements outside and NaN are not counted. Bounds
 * of floats are those of numpy.histogram: lower + b * ((upper - lower) / bins), each operation rounded to double.
 * Integers are exact: each has a bin of its own if upper - lower is bins. Counts of int32_t wrap. counts and x must
 * not overlap; the plain call checks it. */
#pragma cf kernel blocks(HISTOGRAM_BLOCKS) block(HISTOGRAM_THREADS) host(grid(HISTOGRAM_PARTS)) in(x[n]) \
    out(counts[bins]) zero(counts) check(bins >= 1, lower < upper) check(lower - lower == 0, upper - upper == 0) \
    bytes(1.0 * n * sizeof(T) + 1.0 * bins * sizeof(I)) flops(0)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; \
    f64_i64: double, int64_t; i32_i32: int32_t, int32_t; i32_i64: int32_t, int64_t; i64_i32: int64_t, int32_t; \
    i64_i64: int64_t, int64_t)
template <typename T, typename I>
__global__ void __launch_bounds__(HISTOGRAM_THREADS, HISTOGRAM_RESIDENT)
    histogram(const T *__restrict__ x, T lower, T upper, I *__restrict__ counts, int64_t n, int64_t bins)
{
    const histogram_range<T> range(lower, upper, bins);
#ifdef __CUDA_ARCH__
    if (bins <= HISTOGRAM_SHARED && range.is_estimated())
        histogram_shared(x, counts, n, range);
    else
        histogram_global(x, lower, upper, counts, n, bins);
#else
    const int64_t blocks = HISTOGRAM_PARTS, part = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (part >= blocks)
        return;
    const int64_t each = n / blocks, more = n % blocks, first = part * each + (part < more ? part : more);
    histogram_part(x + first, counts, each + (part < more), range);
#endif
}
