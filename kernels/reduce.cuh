/* reduce.cuh - an array reduced to one value by one launch, in an order that hangs on the array's length and element
 * type alone, the same on GPUs and on the CPU.
 *
 * The array is cut into rows of 256 times 16 bytes, and the rows are dealt out to the blocks of the grid in order, as
 * evenly as can be; how many blocks there are says REDUCE_BLOCKS. A block folds the first elements of its rows, from
 * row to row, then the second ones, and so on. What comes of that, one value for each place of a row, it folds to one:
 * the 16 bytes of a thread, then neighbours, pairs of neighbours and so on within 32 threads, then the eight that are
 * left from the first to the last (cub::BlockReduce with BLOCK_REDUCE_WARP_REDUCTIONS). The block that finishes last
 * folds the values of all blocks in the same way, as if there were an array of them with one element to a thread. */
#ifndef KERNELS_REDUCE_CUH
#define KERNELS_REDUCE_CUH

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDA_ARCH__
#include <cub/block/block_reduce.cuh>
#endif

#define REDUCE_THREADS 256

/* A block takes 16 KiB at least, so that each thread has four accesses under way. More than fit a GPU at once are
 * started only where each then has 256 KiB: what it costs to start them is little beside that, and they end together
 * better. */
#define REDUCE_RESIDENT 1056
#define REDUCE_MOST 4224
#define REDUCE_LEAST(n, size) ((n) / (16384 / (size)) + ((n) % (16384 / (size)) > 0))
#define REDUCE_BLOCKS \
    max(1, min(REDUCE_LEAST(n, sizeof(T)), max(REDUCE_RESIDENT, min(n / (262144 / sizeof(T)), REDUCE_MOST))))

/* Words of scratch memory: one that counts the blocks which have arrived, then the blocks' values. */
#define REDUCE_WORK(words) (REDUCE_BLOCKS > 1 ? 1 + words * REDUCE_BLOCKS : 0)

/* ---- What is folded ----
 *
 * `place` is what a place of a row has come to; `value` what it becomes with its index, if that counts. Values are
 * joined from the left to the right. */

template <typename T> __device__ __forceinline__ constexpr bool reduce_is_whole()
{
    return (T)0.5 == (T)0;
}

template <typename T> __device__ __forceinline__ T reduce_plus(T a, T b)
{
    if constexpr (!reduce_is_whole<T>())
        return a + b;
    else if constexpr (sizeof(T) == 4)
        return (T)((uint32_t)a + (uint32_t)b);
    else
        return (T)((uint64_t)a + (uint64_t)b);
}

template <typename T> __device__ __forceinline__ T reduce_times(T a, T b)
{
    if constexpr (!reduce_is_whole<T>())
        return a * b;
    else if constexpr (sizeof(T) == 4)
        return (T)((uint32_t)a * (uint32_t)b);
    else
        return (T)((uint64_t)a * (uint64_t)b);
}

/* What no element is better than. */
template <typename T, bool is_max> __device__ __forceinline__ T reduce_worst()
{
    if constexpr (!reduce_is_whole<T>())
        return is_max ? (T)-INFINITY : (T)INFINITY;
    else if constexpr (sizeof(T) == 4)
        return is_max ? (T)INT32_MIN : (T)INT32_MAX;
    else
        return is_max ? (T)INT64_MIN : (T)INT64_MAX;
}

/* Whether x takes the place of `best`, which came before it: a NaN does, of anything that is none. */
template <bool is_max, typename T> __device__ __forceinline__ bool reduce_is_better(T x, T best)
{
    return (best == best) & !(is_max ? best >= x : best <= x);
}

/* Which of two things goes with the better one of x and `best`: it is written as two choices, of which compilers make
 * vector code where they make none of one with an `and`. */
template <bool is_max, typename T, typename U>
__device__ __forceinline__ U reduce_choose(T x, T best, U of_x, U of_best)
{
    const U chosen = (is_max ? best >= x : best <= x) ? of_best : of_x;
    if constexpr (reduce_is_whole<T>())
        return chosen;
    else
        return best != best ? of_best : chosen;
}

template <typename T> struct reduce_sum {
    typedef T element, place, value;
    static constexpr int arrays = 1;

    static __device__ __forceinline__ place none()
    {
        return 0;
    }
    static __device__ __forceinline__ void take(place &total, T x, T, int)
    {
        total = reduce_plus(total, x);
    }
    static __device__ __forceinline__ value finish(place total, bool, int64_t)
    {
        return total;
    }
    static __device__ __forceinline__ value join(value a, value b)
    {
        return reduce_plus(a, b);
    }
};

template <typename T> struct reduce_dot : reduce_sum<T> {
    static constexpr int arrays = 2;

    static __device__ __forceinline__ void take(T &total, T x, T y, int)
    {
        total = reduce_plus(total, reduce_times(x, y));
    }
};

template <typename T, bool is_max> struct reduce_best {
    typedef T element, place, value;
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

/* An element with its row, in a number of its own size; and with its index. */
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
    typedef typename reduce_row<sizeof(T)>::type row_number;
    static constexpr int arrays = 1, slots = REDUCE_THREADS * 16 / (int)sizeof(T);

    /* Of elements that are all the worst there is, the first one is the best. */
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

/* ---- Who has what ---- */

struct reduce_part {
    int64_t begin; /* the first element */
    int rows;      /* whole ones */
    int rest;      /* elements behind them */
};

template <int slots> __device__ __forceinline__ reduce_part reduce_share(int64_t n, int64_t block, int64_t blocks)
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

/* ---- Blocks that arrive ----
 *
 * The word that counts them is scratch memory and may hold anything at first; to set it would take a launch of its own.
 * So the upper 48 bits are a mark that is the address's own: a block that does not find it there sets the word to the
 * mark and a count of 0, of which one block's attempt succeeds; the last to arrive takes the mark away, for the next
 * launch that gets the memory. That other data has the mark by chance happens once in 2^48 launches on random bits, and
 * never where the word is what such a launch left, or 0. */

typedef unsigned long long reduce_word;

__device__ __forceinline__ reduce_word reduce_mark(const void *word)
{
    return ((reduce_word)(uintptr_t)word * 0x9e3779b97f4a7c15u | (reduce_word)1 << 63) & ~(reduce_word)0xffff;
}

template <typename Value> struct reduce_words {
    static constexpr int count = (sizeof(Value) + 7) / 8;
    uint64_t at[count];
};

#ifdef __CUDA_ARCH__

/* ---- On a GPU ---- */

template <typename T, int N> struct alignas(16) reduce_piece {
    T at[N];
};

template <typename T, int N> __device__ __forceinline__ reduce_piece<T, N> reduce_load(const T *address)
{
    const uint4 word = __ldg(reinterpret_cast<const uint4 *>(address));
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

template <typename T, int arrays> struct reduce_arrays {
    const T *at[arrays];
};

/* The first `count` of several rows, at most, of arrays that are aligned to 16 bytes; `x` and `y` are the thread's. */
template <typename Fold, int count, typename T, int N>
__device__ __forceinline__ void reduce_rows(typename Fold::place (&places)[N], const T *x, const T *y, int row,
                                            int rows)
{
    reduce_piece<T, N> of_x[count], of_y[count];
#pragma unroll
    for (int k = 0; k < count; k++)
        if (k < rows) {
            of_x[k] = reduce_load<T, N>(x + k * REDUCE_THREADS * N);
            of_y[k] = Fold::arrays > 1 ? reduce_load<T, N>(y + k * REDUCE_THREADS * N) : of_x[k];
        }
#pragma unroll
    for (int k = 0; k < count; k++)
        if (k < rows)
#pragma unroll
            for (int j = 0; j < N; j++)
                Fold::take(places[j], of_x[k].at[j], of_y[k].at[j], row + k);
}

/* The same of any arrays, where a thread has elements that lie a block's width apart, and of one row, up to an element
 * of it. */
template <typename Fold, typename T, int N>
__device__ __forceinline__ void reduce_row_apart(typename Fold::place (&places)[N], const T *x, const T *y, int row,
                                                 int step, int count)
{
    T of_x[N], of_y[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        if (j * step < count) {
            of_x[j] = __ldg(x + j * step);
            of_y[j] = Fold::arrays > 1 ? __ldg(y + j * step) : of_x[j];
        }
#pragma unroll
    for (int j = 0; j < N; j++)
        if (j * step < count)
            Fold::take(places[j], of_x[j], of_y[j], row);
}

/* The value of the whole array comes out in one thread of one block: true there. */
template <typename Fold, typename T = typename Fold::element>
__device__ __forceinline__ bool reduce_grid(int64_t n, uint64_t *work, reduce_arrays<T, Fold::arrays> arrays,
                                            typename Fold::value *result)
{
    typedef typename Fold::place place;
    typedef typename Fold::value value;
    typedef cub::BlockReduce<value, REDUCE_THREADS> block_reduce;
    typedef reduce_words<value> words;
    constexpr int N = 16 / sizeof(T), slots = REDUCE_THREADS * N, together = 4 / Fold::arrays;
    __shared__ union {
        typename block_reduce::TempStorage tree;
        place places[slots];
    } memory;
    __shared__ int is_last;
    const int thread = threadIdx.x;
    const bool is_alone = gridDim.x == 1;
    reduce_word *arrived = reinterpret_cast<reduce_word *>(work);

    reduce_word before = 0;
    if (thread == 0 && !is_alone)
        before = atomicCAS(arrived, (reduce_word)0, reduce_mark(arrived));

    const reduce_part part = reduce_share<slots>(n, blockIdx.x, gridDim.x);
    const bool is_aligned = ((uintptr_t)arrays.at[0] | (uintptr_t)arrays.at[Fold::arrays - 1]) % 16 == 0;
    const int step = is_aligned ? 1 : REDUCE_THREADS, slot = is_aligned ? thread * N : thread;
    const T *x = arrays.at[0] + (part.begin + slot), *y = arrays.at[Fold::arrays - 1] + (part.begin + slot);
    place places[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        places[j] = Fold::none();
    int row = 0;
    if (is_aligned) {
#pragma unroll 1
        for (; row + together <= part.rows; row += together, x += together * slots, y += together * slots)
            reduce_rows<Fold, together>(places, x, y, row, together);
        if (row < part.rows) {
            const int rows = part.rows - row;
            reduce_rows<Fold, together - 1>(places, x, y, row, rows);
            x += rows * slots;
            y += rows * slots;
        }
    } else {
#pragma unroll 2
        for (; row < part.rows; row++, x += slots, y += slots)
            reduce_row_apart<Fold>(places, x, y, row, REDUCE_THREADS, slots);
    }
    if (slot < part.rest)
        reduce_row_apart<Fold>(places, x, y, part.rows, step, part.rest - slot);
    if (!is_aligned) {
#pragma unroll
        for (int j = 0; j < N; j++)
            memory.places[slot + j * step] = places[j];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < N; j++)
            places[j] = memory.places[thread * N + j];
        __syncthreads();
    }

    value values[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        values[j] = Fold::finish(places[j], part.rows > 0 || thread * N + j < part.rest, part.begin + thread * N + j);
#pragma unroll
    for (int width = 1; width < N; width *= 2)
#pragma unroll
        for (int j = 0; j < N; j += 2 * width)
            values[j] = Fold::join(values[j], values[j + width]);
    value total = block_reduce(memory.tree).Reduce(values[0], reduce_join<Fold>());
    if (is_alone) {
        *result = total;
        return thread == 0;
    }

    words own;
    if (thread == 0) {
        memset(&own, 0, sizeof own);
        memcpy(&own, &total, sizeof total);
#pragma unroll
        for (int w = 0; w < words::count; w++)
            __stcg(work + 1 + (int64_t)blockIdx.x * words::count + w, own.at[w]);
        if (before && (before ^ reduce_mark(arrived)) >> 16)
            atomicCAS(arrived, before, reduce_mark(arrived));
        __threadfence(); /* the value is there before the block is counted */
        is_last = (atomicAdd(arrived, (reduce_word)1) & 0xffff) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last)
        return false;
    __threadfence(); /* and nothing is read before */
    values[0] = Fold::finish(Fold::none(), false, 0);
#pragma unroll 4
    for (int block = thread; block < (int)gridDim.x; block += REDUCE_THREADS) {
        value other;
#pragma unroll
        for (int w = 0; w < words::count; w++)
            own.at[w] = __ldcg(work + 1 + (int64_t)block * words::count + w);
        memcpy(&other, &own, sizeof other);
        values[0] = Fold::join(values[0], other);
    }
    *result = block_reduce(memory.tree).Reduce(values[0], reduce_join<Fold>());
    if (thread == 0)
        *arrived = 0;
    return thread == 0;
}

#else

/* ---- On the CPU: a thread for a block, the same order ---- */

template <typename T, int arrays> struct reduce_arrays {
    const T *at[arrays];
};

/* Joins neighbours until there are eight values, one for each warp, and these from the left to the right. The two
 * arrays take turns, so that compilers vectorize. One copy will do: it is little of the work. */
template <typename Fold, int count>
__device__ __attribute__((noinline)) typename Fold::value reduce_tree(typename Fold::value *values,
                                                                      typename Fold::value *half)
{
    if constexpr (count > REDUCE_THREADS / 32) {
        for (int i = 0; i < count / 2; i++)
            half[i] = Fold::join(values[2 * i], values[2 * i + 1]);
        return reduce_tree<Fold, count / 2>(half, values);
    } else {
        for (int i = 1; i < count; i++)
            values[0] = Fold::join(values[0], values[i]);
        return values[0];
    }
}

/* The places of a row, as arrays that compilers vectorize over. */
template <typename Fold, int slots, typename T> struct reduce_places {
    alignas(64) T of[slots];

    __device__ __forceinline__ void clear()
    {
        for (int s = 0; s < slots; s++)
            of[s] = Fold::none();
    }
    /* The first `count` places of one row, or all of four rows in one pass. */
    __device__ __forceinline__ void take(const T *x, const T *y, int, int count)
    {
        for (int s = 0; s < count; s++)
            Fold::take(of[s], x[s], y[s], 0);
    }
    __device__ __forceinline__ void take_four(const T *x, const T *y, int)
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
    __device__ __forceinline__ T total(int, int64_t)
    {
        T half[slots / 2];
        return reduce_tree<Fold, slots>(of, half);
    }
};

template <typename T, bool is_max, int slots> struct reduce_places<reduce_arg<T, is_max>, slots, T> {
    typedef reduce_arg<T, is_max> fold;
    typedef typename fold::row_number row_number;
    alignas(64) T of[slots];
    alignas(64) row_number row_of[slots];

    __device__ __forceinline__ void clear()
    {
        for (int s = 0; s < slots; s++) {
            of[s] = fold::none().best;
            row_of[s] = 0;
        }
    }
    __device__ __forceinline__ void take(const T *x, const T *, int row, int count)
    {
        for (int s = 0; s < count; s++) {
            typename fold::place place = {of[s], row_of[s]};
            fold::take(place, x[s], x[s], row);
            of[s] = place.best;
            row_of[s] = place.row;
        }
    }
    __device__ __forceinline__ void take_four(const T *x, const T *, int row)
    {
        for (int s = 0; s < slots; s++) {
            typename fold::place place = {of[s], row_of[s]};
            fold::take(place, x[s], x[s], row);
            fold::take(place, x[slots + s], x[slots + s], row + 1);
            fold::take(place, x[2 * slots + s], x[2 * slots + s], row + 2);
            fold::take(place, x[3 * slots + s], x[3 * slots + s], row + 3);
            of[s] = place.best;
            row_of[s] = place.row;
        }
    }
    /* In whatever order: the first index of the best element is the same. */
    __device__ __forceinline__ reduce_indexed<T> total(int count, int64_t first)
    {
        T values[slots], half[slots / 2];
        row_number rows[slots];
        for (int s = 0; s < slots; s++)
            values[s] = of[s];
        const T best = reduce_tree<reduce_best<T, is_max>, slots>(values, half);
        for (int s = 0; s < slots; s++) {
            const row_number row = of[s] == best ? row_of[s] : INT32_MAX;
            rows[s] = best != best && of[s] != of[s] ? row_of[s] : row;
        }
        row_number lowest = INT32_MAX;
        for (int s = 0; s < count; s++)
            lowest = rows[s] < lowest ? rows[s] : lowest;
        int slot = 0;
        while (slot < count && rows[slot] != lowest)
            slot++;
        return {best, slot < count ? first + (int64_t)lowest * slots + slot : INT64_MAX};
    }
};

template <typename Fold, typename T = typename Fold::element>
__device__ __forceinline__ typename Fold::value reduce_part_of(const reduce_arrays<T, Fold::arrays> &arrays,
                                                               const reduce_part &part)
{
    constexpr int slots = REDUCE_THREADS * 16 / (int)sizeof(T);
    const T *x = arrays.at[0] + part.begin, *y = arrays.at[Fold::arrays - 1] + part.begin;
    reduce_places<Fold, slots, T> places;
    int row = 0;
    places.clear();
    for (; row + 4 <= part.rows; row += 4, x += 4 * slots, y += 4 * slots)
        places.take_four(x, y, row);
    for (; row < part.rows; row++, x += slots, y += slots)
        places.take(x, y, row, slots);
    places.take(x, y, row, part.rest);
    return places.total(part.rows > 0 ? slots : part.rest, part.begin);
}

template <typename Fold>
__device__ __forceinline__ typename Fold::value reduce_parts(const uint64_t *work, int64_t blocks)
{
    typedef typename Fold::value value;
    value values[REDUCE_THREADS], half[REDUCE_THREADS / 2];
    for (int t = 0; t < REDUCE_THREADS; t++)
        values[t] = Fold::finish(Fold::none(), false, 0);
    for (int64_t block = 0; block < blocks; block++) {
        value other;
        memcpy(&other, work + 1 + block * reduce_words<value>::count, sizeof other);
        values[block % REDUCE_THREADS] = Fold::join(values[block % REDUCE_THREADS], other);
    }
    return reduce_tree<Fold, REDUCE_THREADS>(values, half);
}

/* True in the thread that has the result. */
template <typename Fold, typename T = typename Fold::element>
__device__ __forceinline__ bool reduce_block(int64_t n, uint64_t *work, const reduce_arrays<T, Fold::arrays> &arrays,
                                             int64_t block, int64_t blocks, typename Fold::value *result)
{
    typedef typename Fold::value value;
    const value own =
        reduce_part_of<Fold>(arrays, reduce_share<REDUCE_THREADS * 16 / (int)sizeof(T)>(n, block, blocks));
    if (blocks == 1) {
        *result = own;
        return true;
    }
    reduce_word *arrived = reinterpret_cast<reduce_word *>(work), before = 0;
    const reduce_word mark = reduce_mark(arrived);
    cf__as_it_is(arrived, sizeof *arrived);
    if (!__atomic_compare_exchange_n(arrived, &before, mark, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
        (before ^ mark) >> 16)
        (void)__atomic_compare_exchange_n(arrived, &before, mark, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    memcpy(work + 1 + block * reduce_words<value>::count, &own, sizeof own);
    if ((__atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL) & 0xffff) != (reduce_word)blocks - 1)
        return false;
    *result = reduce_parts<Fold>(work, blocks);
    __atomic_store_n(arrived, 0, __ATOMIC_RELAXED);
    return true;
}

#endif
#endif
