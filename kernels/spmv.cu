/* spmv - y = alpha A x + beta y, where the matrix A has its rows one behind the other (CSR) */
#include <stdint.h>

#include <cuda_pipeline_primitives.h>

/* A block has so many elements at a time in shared memory, and as many rows as commonly have seven eighths of that:
 * most blocks are done with one pass. A row has one lane, or several neighbours where a block has few rows. */
#define SPMV_TILE 2048
#define SPMV_HAVE(rows) ((rows) * nnz <= 1792 * nrows)
#define SPMV_ROWS \
    (8 + 8 * SPMV_HAVE(16) + 8 * SPMV_HAVE(24) + 8 * SPMV_HAVE(32) + 16 * SPMV_HAVE(48) + 16 * SPMV_HAVE(64) + \
     32 * SPMV_HAVE(96) + 32 * SPMV_HAVE(128) + 64 * SPMV_HAVE(192) + 64 * SPMV_HAVE(256))
#define SPMV_LANES (32 - 24 * SPMV_HAVE(16) - 4 * SPMV_HAVE(32) - 2 * SPMV_HAVE(64) - SPMV_HAVE(128))
#define SPMV_ROW_BLOCKS ((nrows - 1) / SPMV_ROWS + (nrows > 0))

/* Elements of a lane up to which the rows of a block count as being of one length. */
#define SPMV_EVEN 16

/* Rows of so many elements are cut into chunks, which any blocks take that have time; there are SPMV_CHUNKS at most. */
#define SPMV_LONG 8192
#define SPMV_CHUNKS (nnz >= 2 * SPMV_LONG ? 2 * (nnz / SPMV_LONG) : 0)

#ifdef __CUDA_ARCH__

template <typename T, typename I, typename J> struct spmv_matrix {
    const I *row_ptr;
    const J *col;
    const T *val, *x;
    T *y, *partial;              /* of chunks, as is what follows: sums */
    unsigned int *firsts;        /* the first chunk of the same row */
    unsigned long long *queue;   /* see below */
    int64_t nnz;
    T alpha, beta;
};

/* Where a row's elements are. */
template <typename I> struct spmv_row {
    I first, last;
};

/* What 0 is multiplied with is not read. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_set(const spmv_matrix<T, I, J> &a, int64_t row, T sum)
{
    a.y[row] = a.beta == (T)0 ? a.alpha * sum : a.alpha * sum + a.beta * a.y[row];
}

__device__ __forceinline__ int spmv_thread()
{
    return (int)(threadIdx.y * blockDim.x + threadIdx.x);
}

/* The sum of a group of neighbouring lanes, as many as a power of two, in each of them. */
template <typename T> __device__ __forceinline__ T spmv_sum_of(T value, int lanes)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/* A thread's part of a row, of which it has every `step`th element: eight at once, so that their loads do not wait for
 * one another. */
template <typename T, typename I, typename J>
__device__ __forceinline__ T spmv_sum_of_row(const spmv_matrix<T, I, J> &a, int64_t first, int64_t last, int step)
{
    constexpr int together = 8;
    T sum = 0;
    for (int64_t k = first; k < last; k += together * step) {
        T product[together];
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * step < last)
                product[u] = __ldg(a.val + k + u * step) * __ldg(a.x + __ldg(a.col + k + u * step));
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * step < last)
                sum += product[u];
    }
    return sum;
}

/* ---- Chunks of long rows ----  The queue begins as zeros. Its first word has two counts: of chunks that were
 * taken, in the lower half, and of those that there are. The second one counts chunks that have a place; behind it
 * are the chunks' rows, plus one, and how many chunks are done of the row whose first one has the place. Who sets up
 * chunks takes chunks itself at last, until there are none: all are done, whoever else comes. */

template <typename T> __device__ __forceinline__ T spmv_sum_of_block(T value)
{
    __shared__ T sums[8];
    const int thread = spmv_thread(), warps = (int)(blockDim.x * blockDim.y) / 32;
    value = spmv_sum_of(value, 32);
    __syncthreads();
    if (thread % 32 == 0)
        sums[thread / 32] = value;
    __syncthreads();
    value = sums[0];
    for (int warp = 1; warp < warps; warp++)
        value += sums[warp];
    return value;
}

/* By one thread; false where there is no room, which is so where row_ptr does not ascend. */
template <typename T, typename I, typename J>
__device__ __noinline__ bool spmv_share(spmv_matrix<T, I, J> a, int64_t row, int64_t length)
{
    const unsigned long long chunks = (unsigned long long)((length - 1) / SPMV_LONG + 1);
    const unsigned long long first = atomicAdd(a.queue + 1, chunks), nnz = (unsigned long long)a.nnz;
    if (first + chunks > SPMV_CHUNKS)
        return false;
    for (unsigned long long chunk = first; chunk < first + chunks; chunk++)
        __stcg(a.firsts + chunk, (unsigned int)first);
    __threadfence(); /* a chunk is complete before its row shows */
    for (unsigned long long chunk = first; chunk < first + chunks; chunk++)
        atomicExch(a.queue + 2 + chunk, (unsigned long long)row + 1);
    atomicAdd(a.queue, chunks << 32);
    return true;
}

__device__ __forceinline__ bool spmv_has_chunks(unsigned long long counts)
{
    return (unsigned int)counts < (unsigned int)(counts >> 32);
}

/* Whether there are chunks to take, asked by one thread of a block. */
template <typename T, typename I, typename J>
__device__ __forceinline__ bool spmv_sees_chunks(const spmv_matrix<T, I, J> &a)
{
    return spmv_thread() == 0 && a.nnz >= 2 * SPMV_LONG &&
           spmv_has_chunks(*(const volatile unsigned long long *)a.queue);
}

/* The number of a chunk that is the thread's from now on, and its row; -1: there is none. */
__device__ __forceinline__ int64_t spmv_take(unsigned long long *queue, int64_t *row)
{
    unsigned long long counts = atomicAdd(queue, 0ull), before;
    do {
        if (!spmv_has_chunks(counts))
            return -1;
        before = counts;
        counts = atomicCAS(queue, before, before + 1);
    } while (counts != before);
    const int64_t chunk = (unsigned int)counts;
    unsigned long long of_row;
    do /* those who set up chunks at the same time may not have come to this one yet */
        of_row = atomicAdd(queue + 2 + chunk, 0ull);
    while (of_row == 0);
    __threadfence();
    *row = (int64_t)of_row - 1;
    return chunk;
}

/* Takes chunks until there are none. */
template <typename T, typename I, typename J> __device__ __noinline__ void spmv_work_off(spmv_matrix<T, I, J> a)
{
    __shared__ int64_t taken, of_row;
    __shared__ bool is_last;
    const int thread = spmv_thread(), threads = (int)(blockDim.x * blockDim.y);
    for (;;) {
        __syncthreads();
        if (thread == 0) {
            int64_t row = 0;
            taken = spmv_take(a.queue, &row);
            of_row = row;
        }
        __syncthreads();
        const int64_t chunk = taken, row = of_row;
        if (chunk < 0)
            return;
        const int64_t first = __ldcg(a.firsts + chunk), begin = a.row_ptr[row], end = a.row_ptr[row + 1];
        const int64_t from = begin + (chunk - first) * SPMV_LONG, to = end - from < SPMV_LONG ? end : from + SPMV_LONG;
        const int64_t chunks = (end - begin - 1) / SPMV_LONG + 1;
        T sum = spmv_sum_of_block(spmv_sum_of_row(a, from + thread, to, threads));
        if (chunks > 1) {
            if (thread == 0) {
                __stcg(a.partial + chunk, sum);
                __threadfence(); /* the sum is there before the chunk is counted */
                is_last = atomicAdd(a.queue + 2 + 2 * (a.nnz / SPMV_LONG) + first, 1ull) + 1 ==
                          (unsigned long long)chunks;
                __threadfence(); /* and nothing is read before */
            }
            __syncthreads();
            if (!is_last)
                continue;
            sum = 0;
            for (int64_t other = thread; other < chunks; other += threads)
                sum += __ldcg(a.partial + first + other);
            sum = spmv_sum_of_block(sum);
        }
        if (thread == 0)
            spmv_set(a, row, sum);
    }
}

/* ---- Blocks of rows ---- */

/* Copies `count` elements to shared memory: 16 bytes at once where they are aligned, and are `most` elements at
 * least. */
template <typename T>
__device__ __forceinline__ void spmv_copy(T *to, const T *from, int count, int64_t most)
{
    constexpr int N = 16 / (int)sizeof(T);
    const bool is_aligned = (uintptr_t)from % 16 == 0;
#pragma unroll 1
    for (int k = spmv_thread() * N; k < count; k += (int)(blockDim.x * blockDim.y) * N) {
        if (is_aligned && k + N <= most)
            __pipeline_memcpy_async(to + k, from + k, 16);
        else
#pragma unroll 1
            for (int e = k; e < count && e < k + N; e++)
                __pipeline_memcpy_async(to + e, from + e, sizeof(T));
    }
}

/* The sum of elements `first` to `last` - 1 of a tile, of which a lane has every `lanes`th. */
template <typename T, typename J>
__device__ __forceinline__ T spmv_sum_even(const T *values, const J *columns, const T *x, int first, int last,
                                           int lanes)
{
    constexpr int together = 8;
    T sum = 0;
    for (int k = first + (int)threadIdx.x; k < last; k += together * lanes) {
        T product[together];
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * lanes < last)
                product[u] = values[k + u * lanes] * __ldg(x + columns[k + u * lanes]);
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * lanes < last)
                sum += product[u];
    }
    return sum;
}

/* All threads turn a tile's values into products. */
template <typename T, typename J>
__device__ __forceinline__ void spmv_multiply(T *values, const J *columns, const T *x, int first, int last)
{
    constexpr int together = 8;
    const int threads = (int)(blockDim.x * blockDim.y);
    for (int k = first + spmv_thread(); k < last; k += together * threads) {
        T product[together];
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * threads < last)
                product[u] = values[k + u * threads] * __ldg(x + columns[k + u * threads]);
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * threads < last)
                values[k + u * threads] = product[u];
    }
}

/* The sums of what rows have of a tile's products: a row's lanes sum up few, the warp one row's after the other's where
 * there are many. */
template <typename T> __device__ __forceinline__ T spmv_sum_uneven(const T *products, int first, int last, int lanes)
{
    const int lane = spmv_thread() % 32;
    const bool has_many = last - first > 24 * lanes;
    T sum = 0;
    if (!has_many)
        for (int k = first + (int)threadIdx.x; k < last; k += lanes)
            sum += products[k];
    sum = spmv_sum_of(sum, lanes);
    for (unsigned int left = __ballot_sync(0xffffffffu, has_many); left;) {
        const int owner = __ffs((int)left) - 1;
        const int begin = __shfl_sync(0xffffffffu, first, owner), end = __shfl_sync(0xffffffffu, last, owner);
        T together = 0;
        for (int k = begin + lane; k < end; k += 32)
            together += products[k];
        together = spmv_sum_of(together, 32);
        if (lane / lanes == owner / lanes)
            sum = together;
        left &= ~(0xffffffffu >> (32 - lanes) << owner);
    }
    return sum;
}

/* Where to go on behind rows that are left to others, and where the next of these begins: where it is `from`, that
 * is in none. */
template <typename I> struct spmv_stretch {
    I next, stop;
};

template <typename I>
__device__ __noinline__ spmv_stretch<I> spmv_skip(spmv_row<I> row, bool is_left, I from, I to)
{
    __shared__ long long next, stop;
    __syncthreads();
    if (spmv_thread() == 0) {
        next = from;
        stop = to;
    }
    __syncthreads();
    if (is_left && row.first <= from && row.last > from)
        atomicMax(&next, (long long)row.last);
    else if (is_left && row.first > from)
        atomicMin(&stop, (long long)row.first);
    __syncthreads();
    return {(I)next, (I)stop};
}

/* A tile in shared memory. */
template <typename T, typename J> struct spmv_tile {
    alignas(16) T values[SPMV_TILE + 4];
    alignas(16) J columns[SPMV_TILE + 4];
};

/* Fills a tile with elements from `base` on, which 16 bytes begin with, up to `to` - 1. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_fill(spmv_tile<T, J> &tile, const spmv_matrix<T, I, J> &a, I base, I to)
{
    spmv_copy(tile.values, a.val + base, (int)(to - base), a.nnz - base);
    spmv_copy(tile.columns, a.col + base, (int)(to - base), a.nnz - base);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
}

/* Rows of any lengths, elements begin to end - 1 in all, tile by tile. A row that does not lie there, since row_ptr
 * does not ascend, is summed up by itself: what is read stays within the arrays, whatever row_ptr says within its
 * range. */
template <typename T, typename I, typename J>
__device__ __noinline__ void spmv_rows_uneven(spmv_tile<T, J> &tile, spmv_matrix<T, I, J> a, I begin, I end,
                                              spmv_row<I> row, int64_t number, bool is_row)
{
    const int lanes = (int)blockDim.x;
    T sum = 0;
    if (row.first < row.last && (row.first < begin || row.last > end)) {
        sum = threadIdx.x ? (T)0 : spmv_sum_of_row(a, row.first, row.last, 1);
        row.last = row.first;
    }
    bool is_left = false, has_left = false;
    if (end > begin && end - begin >= SPMV_LONG && a.nnz >= 2 * SPMV_LONG) {
        if (threadIdx.x == 0 && row.last > row.first && row.last - row.first >= SPMV_LONG)
            is_left = spmv_share(a, number, (int64_t)row.last - row.first);
        is_left = __shfl_sync(0xffffffffu, (int)is_left, spmv_thread() % 32 / lanes * lanes);
        has_left = __syncthreads_or(is_left);
    }
    for (I from = begin; from < end;) {
        I to = end - from > SPMV_TILE ? from + SPMV_TILE : end;
        if (has_left) {
            const spmv_stretch<I> stretch = spmv_skip(row, is_left, from, to);
            to = stretch.stop;
            if (stretch.next > from) {
                from = stretch.next;
                continue;
            }
        }
        const I base = from & ~(I)3;
        spmv_fill(tile, a, base, to);
        spmv_multiply(tile.values, tile.columns, a.x, (int)(from - base), (int)(to - base));
        __syncthreads();
        const int first = (int)((row.first <= from ? from : row.first < to ? row.first : to) - base);
        const int last = is_left || row.last <= from ? 0 : (int)((row.last < to ? row.last : to) - base);
        sum += spmv_sum_uneven(tile.values, first, last, lanes);
        from = to;
        if (from < end)
            __syncthreads();
    }
    if (is_row && threadIdx.x == 0 && !is_left)
        spmv_set(a, number, sum);
}

/* Rows first_row to first_row + rows - 1: most often few elements each, which fit a tile. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_rows(const spmv_matrix<T, I, J> &a, int64_t first_row, int rows)
{
    __shared__ spmv_tile<T, J> tile;
    const int lanes = (int)blockDim.x;
    const int64_t number = first_row + threadIdx.y;
    const bool is_row = (int)threadIdx.y < rows;
    const I begin = __ldg(a.row_ptr + first_row), end = __ldg(a.row_ptr + first_row + rows);
    spmv_row<I> row = {begin, begin};
    if (is_row)
        row = {__ldg(a.row_ptr + number), __ldg(a.row_ptr + number + 1)};
    const bool is_plain = begin <= row.first && row.first <= row.last && row.last <= end &&
                          row.last - row.first <= SPMV_EVEN * lanes && end - begin <= SPMV_TILE;
    bool has_chunks;
    if (__syncthreads_and(is_plain)) {
        const I base = begin & ~(I)3;
        spmv_fill(tile, a, base, end);
        has_chunks = spmv_sees_chunks(a);
        T sum = spmv_sum_even(tile.values, tile.columns, a.x, (int)(row.first - base), (int)(row.last - base), lanes);
        sum = spmv_sum_of(sum, lanes);
        if (is_row && threadIdx.x == 0)
            spmv_set(a, number, sum);
    } else {
        spmv_rows_uneven(tile, a, begin, end, row, number, is_row);
        has_chunks = spmv_sees_chunks(a);
    }
    if (__syncthreads_or(has_chunks))
        spmv_work_off(a);
}

#endif

/* Sets y to alpha A x + beta y, of a matrix of nrows rows and ncols columns that has nnz elements: row i has elements
 * row_ptr[i] to row_ptr[i + 1] - 1 of val, in the columns that col says, in any order. row_ptr has nrows + 1 elements,
 * which lie in [0, nnz] and ascend; columns lie in [0, ncols). The plain call checks both ranges, and not that row_ptr
 * ascends: where it does not, results may be wrong, and nothing outside of the arrays is read. y is not read where beta
 * is 0; it must overlap no other array, which the plain call checks. The same call gives the same bits each time;
 * kernels/README.md says in which order sums are. */
#pragma cf kernel blocks(SPMV_ROW_BLOCKS) block(SPMV_LANES, SPMV_ROWS) host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows]) \
    scratch(partial[SPMV_CHUNKS], firsts[SPMV_CHUNKS], queue[SPMV_CHUNKS > 0 ? 2 + 2 * SPMV_CHUNKS : 0]) zero(queue) \
    check(0 <= row_ptr[:] <= nnz, 0 <= col[:] < ncols) tolerance((sizeof(T) == 8 ? 1e-15 : 1e-6) * (nnz + 16)) \
    bytes(nnz * (1.0 * sizeof(T) + sizeof(J)) + nrows * (2.0 * sizeof(T) + sizeof(I)) + 1.0 * ncols * sizeof(T)) \
    flops(2.0 * nnz + 3.0 * nrows)
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(256, 6)
    spmv(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
         const T *__restrict__ x, T beta, T *__restrict__ y, T *__restrict__ partial, unsigned int *__restrict__ firsts,
         unsigned long long *__restrict__ queue, int64_t nrows, int64_t ncols, int64_t nnz)
{
#ifdef __CUDA_ARCH__
    const int64_t first = (int64_t)blockIdx.x * blockDim.y, left = nrows - first;
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, partial, firsts, queue, nnz, alpha, beta};
    spmv_rows(a, first, left < blockDim.y ? (int)left : (int)blockDim.y);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nrows) {
        T sum = 0;
        for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++)
            sum += val[k] * x[col[k]];
        y[i] = beta == (T)0 ? alpha * sum : alpha * sum + beta * y[i];
    }
#endif
}
