/* reduce.cuh - reduces an array to one value in one launch, in an order that depends only on the array's length and
 * element type, the same on GPUs and on the CPU
 *
 * The array is divided into rows of 256 times 16 bytes, and the rows are dealt out to REDUCE_BLOCKS blocks in order, as
 * evenly as possible. A block joins the elements at each position of its rows, from row to row. It then joins the
 * positions to one value: first the 16 bytes of each thread; then, within 32 threads, neighbours, pairs of neighbours
 * and so on; then the eight values that are left, from the first to the last (cub::BlockReduce with
 * BLOCK_REDUCE_WARP_REDUCTIONS). The last block joins the values of all blocks in the same way, as an array with one
 * element for each thread. */
#ifndef KERNELS_REDUCE_CUH
#define KERNELS_REDUCE_CUH

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDA_ARCH__
#include <cub/block/block_reduce.cuh>
#endif

#include "share.cuh"

#define REDUCE_THREADS 256

/* Up to REDUCE_MOST blocks take at most 32 KiB each, which is eight accesses of each thread, all in flight at once. For
 * larger arrays, blocks take more. REDUCE_MOST is four blocks for each multiprocessor of a large GPU, which run at the
 * same time. */
#define REDUCE_MOST 528
#define REDUCE_OF_32_KIB(n, size) ((n) / (32768 / (size)) + ((n) % (32768 / (size)) > 0))
#define REDUCE_BLOCKS max(1, min(REDUCE_OF_32_KIB(n, sizeof(T)), REDUCE_MOST))

/* Words of scratch memory, all 0 before and after a launch: one counts the blocks on the CPU, the others hold the
 * blocks' values of `bytes` bytes each. */
#define REDUCE_WORK(bytes) (REDUCE_BLOCKS > 1 ? 1 + (bytes) / 4 * REDUCE_BLOCKS : 0)

/* ---- Folds ----
 *
 * `place` is the state of a position of a row; `value` is a state together with its index, if the index matters. Values
 * are joined from left to right. */

template <typename T> __device__ __forceinline__ T reduce_times(T a, T b)
{
    if constexpr (!share_is_integral<T>())
        return a * b;
    else if constexpr (sizeof(T) == 4)
        return (T)((uint32_t)a * (uint32_t)b);
    else
        return (T)((uint64_t)a * (uint64_t)b);
}

/* Returns the worst element of the type: any other is better. */
template <typename T, bool is_max> __device__ __forceinline__ T reduce_worst()
{
    if constexpr (!share_is_integral<T>())
        return is_max ? (T)-INFINITY : (T)INFINITY;
    else if constexpr (sizeof(T) == 4)
        return is_max ? (T)INT32_MIN : (T)INT32_MAX;
    else
        return is_max ? (T)INT64_MIN : (T)INT64_MAX;
}

/* True if x replaces `best`, which came before it; a NaN replaces every number. */
template <bool is_max, typename T> __device__ __forceinline__ bool reduce_is_better(T x, T best)
{
    return (best == best) & !(is_max ? best >= x : best <= x);
}

/* Returns of_x if x is better than `best`, otherwise of_best. It is written as two selections, because compilers
 * vectorize these, but not one selection with an `and`. */
template <bool is_max, typename T, typename U>
__device__ __forceinline__ U reduce_choose(T x, T best, U of_x, U of_best)
{
    const U chosen = (is_max ? best >= x : best <= x) ? of_best : of_x;
    if constexpr (share_is_integral<T>())
        return chosen;
    else
        return best != best ? of_best : chosen;
}

template <typename T> struct reduce_sum {
    typedef T element, place, value;
    typedef reduce_sum joined; /* fold that joins the values */
    static constexpr int arrays = 1;

    static __device__ __forceinline__ place none()
    {
        return 0;
    }
    static __device__ __forceinline__ void take(place &total, T x, T, int)
    {
        total = share_plus(total, x);
    }
    static __device__ __forceinline__ value finish(place total, bool, int64_t)
    {
        return total;
    }
    static __device__ __forceinline__ value join(value a, value b)
    {
        return share_plus(a, b);
    }
};

template <typename T> struct reduce_dot : reduce_sum<T> {
    static constexpr int arrays = 2;

    static __device__ __forceinline__ void take(T &total, T x, T y, int)
    {
        total = share_plus(total, reduce_times(x, y));
    }
};

template <typename T, bool is_max> struct reduce_best {
    typedef T element, place, value;
    typedef reduce_best joined;
    static constexpr int arrays = 1;

    static __device__ __forceinline__ place none()
    {
        return reduce_worst<T, is_max>();
    }
    static __device__ __forceinline__ void take(place &best, T x, T, int)
    {
        best = reduce_choose<is_max>(x, best, x, best);
    }
    static __device__ __forceinline__ value finish(place best, bool, int64_t)
    {
        return best;
    }
    static __device__ __forceinline__ value join(value a, value b)
    {
        return reduce_choose<is_max>(b, a, b, a);
    }
};

/* Types for an element with its row, a number of the element's size, and for an element with its index. */
template <int bytes> struct reduce_row {
    typedef int32_t type;
};
template <> struct reduce_row<8> {
    typedef int64_t type;
};
template <typename T> struct reduce_placed {
    T best;
    typename reduce_row<sizeof(T)>::type row;
};
template <typename T> struct reduce_indexed {
    T best;
    int64_t index;
};

template <typename T, bool is_max> struct reduce_arg {
    typedef T element;
    typedef reduce_placed<T> place;
    typedef reduce_indexed<T> value;
    typedef reduce_arg joined;
    typedef typename reduce_row<sizeof(T)>::type row_number;
    static constexpr int arrays = 1, slots = REDUCE_THREADS * 16 / (int)sizeof(T);

    /* The state before the first row. If all elements are the worst of the type, the first is the best. */
    static __device__ __forceinline__ place none()
    {
        return {reduce_worst<T, is_max>(), 0};
    }
    static __device__ __forceinline__ void take(place &best, T x, T, int row)
    {
        best.row = reduce_choose<is_max>(x, best.best, (row_number)row, best.row);
        best.best = reduce_choose<is_max>(x, best.best, x, best.best);
    }
    static __device__ __forceinline__ value finish(place best, bool has_any, int64_t first)
    {
        return {best.best, has_any ? first + (int64_t)best.row * slots : INT64_MAX};
    }
    static __device__ __forceinline__ value join(value a, value b)
    {
        const bool is_same = !reduce_is_better<is_max>(a.best, b.best) && b.index < a.index;
        return reduce_is_better<is_max>(b.best, a.best) || is_same ? b : a;
    }
};

/* ---- Division among blocks ---- */

struct reduce_part {
    int64_t begin; /* number of the first element */
    int rows;      /* number of whole rows */
    int rest;      /* number of elements after them */
};

#ifdef __CUDA_ARCH__
#define REDUCE_INLINE __forceinline__
#else
#define REDUCE_INLINE __attribute__((noinline))
#endif

template <int slots> __device__ REDUCE_INLINE reduce_part reduce_share(int64_t n, int64_t block, int64_t blocks)
{
    const int64_t all = n / slots + (n % slots > 0);
    int64_t each, more;
    if (all <= UINT32_MAX) {
        each = (uint32_t)all / (uint32_t)blocks;
        more = (uint32_t)all % (uint32_t)blocks;
    } else {
        each = all / blocks;
        more = all % blocks;
    }
    const int64_t first = block * each + (block < more ? block : more), last = first + each + (block < more);
    const int64_t begin = first * slots, end = last < all ? last * slots : n;
    return {begin, (int)((end - begin) / slots), (int)((end - begin) % slots)};
}

template <typename T, int arrays> struct reduce_arrays {
    const T *at[arrays];
};

/* Returns the blocks' values in scratch memory. */
template <typename Value> __device__ __forceinline__ share_words<Value> *reduce_values(uint64_t *work)
{
    return reinterpret_cast<share_words<Value> *>(work + 1);
}

#ifdef __CUDA_ARCH__

/* ---- On a GPU ---- */

template <typename T, int N> struct alignas(16) reduce_piece {
    T at[N];
};

template <typename T, int N> __device__ __forceinline__ reduce_piece<T, N> reduce_load(const T *address)
{
    const uint4 word = __ldcs(reinterpret_cast<const uint4 *>(address));
    reduce_piece<T, N> piece;
    memcpy(&piece, &word, sizeof piece);
    return piece;
}

template <typename Fold> struct reduce_join {
    typedef typename Fold::value value;
    __device__ __forceinline__ value operator()(const value &a, const value &b) const
    {
        return Fold::join(a, b);
    }
};

/* Joins `rows` rows, at most `together`, to a thread's positions, with all loads in flight at once. `x` and `y` point
 * to the thread's first elements and are aligned. */
template <typename Fold, int together, typename T, int N>
__device__ __forceinline__ void reduce_rows(typename Fold::place (&places)[N], const T *x, const T *y, int row,
                                            int rows)
{
    reduce_piece<T, N> of_x[together], of_y[together];
#pragma unroll
    for (int k = 0; k < together; k++)
        if (k < rows) {
            of_x[k] = reduce_load<T, N>(x + k * REDUCE_THREADS * N);
            of_y[k] = Fold::arrays > 1 ? reduce_load<T, N>(y + k * REDUCE_THREADS * N) : of_x[k];
        }
#pragma unroll
    for (int k = 0; k < together; k++)
        if (k < rows)
#pragma unroll
            for (int j = 0; j < N; j++)
                Fold::take(places[j], of_x[k].at[j], of_y[k].at[j], row + k);
}

/* Joins the first `count` elements of a thread in one row, which may be unaligned. */
template <typename Fold, typename T, int N>
__device__ __forceinline__ void reduce_one_row(typename Fold::place (&places)[N], const T *x, const T *y, int row,
                                               int count)
{
    T of_x[N], of_y[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        if (j < count) {
            of_x[j] = __ldg(x + j);
            of_y[j] = Fold::arrays > 1 ? __ldg(y + j) : of_x[j];
        }
#pragma unroll
    for (int j = 0; j < N; j++)
        if (j < count)
            Fold::take(places[j], of_x[j], of_y[j], row);
}

/* Returns the value of a thread's positions over all rows of a block. */
template <typename Fold, typename T = typename Fold::element>
__device__ __forceinline__ typename Fold::value reduce_thread(const reduce_part &part,
                                                              const reduce_arrays<T, Fold::arrays> &arrays)
{
    constexpr int N = 16 / sizeof(T), slots = REDUCE_THREADS * N,
                  together = (sizeof(typename Fold::place) > sizeof(T) ? 4 : 8) / Fold::arrays;
    const int first = (int)threadIdx.x * N;
    const bool is_aligned = ((uintptr_t)arrays.at[0] | (uintptr_t)arrays.at[Fold::arrays - 1]) % 16 == 0;
    const T *x = arrays.at[0] + (part.begin + first), *y = arrays.at[Fold::arrays - 1] + (part.begin + first);
    typename Fold::place places[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        places[j] = Fold::none();
    int row = 0;
    if (is_aligned) {
#pragma unroll 1
        for (; row + together <= part.rows; row += together, x += together * slots, y += together * slots)
            reduce_rows<Fold, together>(places, x, y, row, together);
        reduce_rows<Fold, together - 1>(places, x, y, row, part.rows - row);
        x += (part.rows - row) * slots;
        y += (part.rows - row) * slots;
        row = part.rows;
    }
#pragma unroll 1
    for (; row <= part.rows; row++, x += slots, y += slots)
        reduce_one_row<Fold>(places, x, y, row, row < part.rows ? N : part.rest - first);

    typename Fold::value values[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        values[j] = Fold::finish(places[j], part.rows > 0 || first + j < part.rest, part.begin + first + j);
#pragma unroll
    for (int width = 1; width < N; width *= 2)
#pragma unroll
        for (int j = 0; j < N; j += 2 * width)
            values[j] = Fold::join(values[j], values[j + width]);
    return values[0];
}

/* Waits for the values of all blocks and returns a thread's share of them. The last block calls this; `own` is its
 * value. */
template <typename Fold>
__device__ __forceinline__ typename Fold::value reduce_blocks(uint64_t *work, const typename Fold::value &own)
{
    typedef typename Fold::value value;
    constexpr int together = 4;
    share_words<value> *values = reduce_values<value>(work);
    const int last = (int)gridDim.x - 1;
    value total = Fold::finish(Fold::none(), false, 0);
#pragma unroll 1
    for (int block = threadIdx.x; block <= last; block += together * REDUCE_THREADS) {
        value others[together];
        bool is_there[together], are_there;
#pragma unroll
        for (int k = 0; k < together; k++) {
            is_there[k] = block + k * REDUCE_THREADS >= last;
            others[k] = own;
        }
        do {
            are_there = true;
#pragma unroll
            for (int k = 0; k < together; k++) {
                share_look(values + block + k * REDUCE_THREADS, is_there[k], others[k]);
                are_there &= is_there[k];
            }
        } while (!are_there);
#pragma unroll
        for (int k = 0; k < together; k++) {
            if (block + k * REDUCE_THREADS < last)
                share_clear(values + block + k * REDUCE_THREADS); /* for the next launch; only this thread reads it */
            if (block + k * REDUCE_THREADS <= last)
                total = Fold::join(total, others[k]);
        }
    }
    return total;
}

/* Returns true in that thread of the last block which has the value of the whole array. Only the last block waits for
 * others; these end in whatever order they start. */
template <typename Fold, typename T = typename Fold::element>
__device__ __forceinline__ bool reduce_grid(int64_t n, uint64_t *work, const reduce_arrays<T, Fold::arrays> &arrays,
                                            typename Fold::value *result)
{
    typedef typename Fold::value value;
    typedef cub::BlockReduce<value, REDUCE_THREADS> block_reduce;
    __shared__ typename block_reduce::TempStorage tree;
    __shared__ value of_block;
    const reduce_part part = reduce_share<REDUCE_THREADS * 16 / (int)sizeof(T)>(n, blockIdx.x, gridDim.x);
    const bool is_last = blockIdx.x == gridDim.x - 1;
    value own = reduce_thread<Fold>(part, arrays);
    bool is_of_all = gridDim.x == 1;
    for (;;) { /* runs for the block, then for all blocks, so that the tree is in the code once */
        *result = block_reduce(tree).Reduce(own, reduce_join<Fold>());
        if (is_of_all)
            return threadIdx.x == 0;
        if (threadIdx.x == 0) {
            if (is_last)
                of_block = *result;
            else
                share_store(reduce_values<value>(work) + blockIdx.x, *result);
        }
        if (!is_last)
            return false;
        __syncthreads();
        own = reduce_blocks<Fold>(work, of_block);
        is_of_all = true;
    }
}

#else

/* ---- On the CPU: a thread for each block, in the same order ---- */

/* Joins neighbours until eight values are left, one for each warp, and then these from left to right. Results go from
 * one array to the other and back, so that compilers vectorize. The function is not inlined, since it does little of
 * the work. */
template <typename Fold>
__device__ __attribute__((noinline)) typename Fold::value reduce_tree(typename Fold::value *values,
                                                                      typename Fold::value *half, int count)
{
    typedef typename Fold::value value;
    for (; count > REDUCE_THREADS / 32; count /= 2) {
        const value *__restrict__ from = values;
        value *__restrict__ to = half;
        for (int i = 0; i < count / 2; i++)
            to[i] = Fold::join(from[2 * i], from[2 * i + 1]);
        half = values;
        values = to;
    }
    for (int i = 1; i < count; i++)
        values[0] = Fold::join(values[0], values[i]);
    return values[0];
}

/* The positions of a row, in an array over which compilers vectorize. */
template <typename Fold> struct reduce_places {
    typedef typename Fold::element T;
    static constexpr int slots = REDUCE_THREADS * 16 / (int)sizeof(T);
    alignas(64) T of[slots];

    __device__ __attribute__((noinline)) void clear()
    {
        for (int s = 0; s < slots; s++)
            of[s] = Fold::none();
    }
    /* Joins four rows in one pass. Only this function is compiled for each kind of processor. */
    __device__ __forceinline__ void take_four(const T *x, const T *y)
    {
        for (int s = 0; s < slots; s++) {
            T place = of[s];
            Fold::take(place, x[s], y[s], 0);
            Fold::take(place, x[slots + s], y[slots + s], 0);
            Fold::take(place, x[2 * slots + s], y[2 * slots + s], 0);
            Fold::take(place, x[3 * slots + s], y[3 * slots + s], 0);
            of[s] = place;
        }
    }
    /* Joins the remaining elements, and then all positions. */
    __device__ __attribute__((noinline)) T finish(const T *x, const T *y, int64_t left)
    {
        T half[slots / 2];
        for (; left > 0; left -= slots, x += slots, y += slots) {
            const int count = left < slots ? (int)left : slots;
            for (int s = 0; s < count; s++)
                Fold::take(of[s], x[s], y[s], 0);
        }
        return reduce_tree<typename Fold::joined>(of, half, slots);
    }
};

template <typename Fold, typename T> __device__ __forceinline__ T reduce_range(const T *x, const T *y, int64_t count)
{
    reduce_places<Fold> places;
    constexpr int slots = reduce_places<Fold>::slots;
    places.clear();
    for (; count >= 4 * slots; count -= 4 * slots, x += 4 * slots, y += 4 * slots)
        places.take_four(x, y);
    return places.finish(x, y, count);
}

template <typename Fold> struct reduce_of {
    typedef typename Fold::element T;
    static __device__ __forceinline__ T range(const reduce_arrays<T, Fold::arrays> &arrays, int64_t begin, int64_t end)
    {
        return reduce_range<Fold>(arrays.at[0] + begin, arrays.at[Fold::arrays - 1] + begin, end - begin);
    }
};

/* Returns the index of a value, or of the first NaN if the value is NaN. The inner loop has 64 elements, which
 * compilers compare with vectors. */
template <typename T> __device__ __attribute__((noinline)) int64_t reduce_find(const T *x, int64_t count, T value)
{
    const bool is_nan = value != value;
    int64_t at = 0;
    for (int found = 0; at + 64 <= count; at += 64) {
        for (int i = 0; i < 64; i++)
            found |= is_nan ? x[at + i] != x[at + i] : x[at + i] == value;
        if (found)
            break;
    }
    while (at < count && !(is_nan ? x[at] != x[at] : x[at] == value))
        at++;
    return at;
}

/* Finds the first index of the best element, which does not depend on the order: first the stretch that contains it,
 * then the element there. */
template <typename T, bool is_max> struct reduce_of<reduce_arg<T, is_max>> {
    static constexpr int64_t stretch = 8 * REDUCE_THREADS * 16 / (int)sizeof(T);

    static __device__ __attribute__((noinline)) reduce_indexed<T> range(const reduce_arrays<T, 1> &arrays,
                                                                        int64_t begin, int64_t end)
    {
        const T *x = arrays.at[0];
        reduce_indexed<T> best = {reduce_worst<T, is_max>(), INT64_MAX};
        for (int64_t from = begin; from < end; from += stretch) {
            const int64_t count = end - from < stretch ? end - from : stretch;
            const T here = reduce_range<reduce_best<T, is_max>>(x + from, x + from, count);
            if (best.index == INT64_MAX || reduce_is_better<is_max>(here, best.best))
                best = {here, from};
        }
        if (best.index < end)
            best.index += reduce_find(x + best.index, end - best.index, best.best);
        return best;
    }
};

template <typename Fold>
__device__ __attribute__((noinline)) typename Fold::value reduce_blocks(uint64_t *work, int64_t blocks)
{
    typedef typename Fold::value value;
    value values[REDUCE_THREADS], half[REDUCE_THREADS / 2];
    for (int t = 0; t < REDUCE_THREADS; t++)
        values[t] = Fold::finish(Fold::none(), false, 0);
    for (int64_t block = 0; block < blocks; block++) {
        value other;
        memcpy(&other, reduce_values<value>(work) + block, sizeof other);
        values[block % REDUCE_THREADS] = Fold::join(values[block % REDUCE_THREADS], other);
    }
    return reduce_tree<Fold>(values, half, REDUCE_THREADS);
}

/* Counts a block as arrived. Returns true in the last block, which then has the result. */
template <typename Fold>
__device__ __attribute__((noinline)) bool reduce_arrive(uint64_t *work, int64_t block, int64_t blocks,
                                                        typename Fold::value *value)
{
    if (blocks == 1)
        return true;
    memcpy(reduce_values<typename Fold::value>(work) + block, value, sizeof *value);
    if (__atomic_fetch_add(work, 1, __ATOMIC_ACQ_REL) != (uint64_t)blocks - 1)
        return false;
    *value = reduce_blocks<Fold>(work, blocks);
    *work = 0; /* cleared for the next launch, like the values */
    auto *values = reduce_values<typename Fold::value>(work);
    memset(values, 0, (size_t)blocks * sizeof *values);
    return true;
}

/* Returns true in the thread that has the result, as on a GPU. */
template <typename Fold, typename T = typename Fold::element>
__device__ __forceinline__ bool reduce_grid(int64_t n, uint64_t *work, const reduce_arrays<T, Fold::arrays> &arrays,
                                            typename Fold::value *result)
{
    constexpr int slots = REDUCE_THREADS * 16 / (int)sizeof(T);
    const int64_t block = blockIdx.x, blocks = gridDim.x;
    const reduce_part part = reduce_share<slots>(n, block, blocks);
    *result = reduce_of<Fold>::range(arrays, part.begin, part.begin + (int64_t)part.rows * slots + part.rest);
    return reduce_arrive<typename Fold::joined>(work, block, blocks, result);
}

#endif
#endif
