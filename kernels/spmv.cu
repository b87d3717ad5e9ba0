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

/* Rows of so many elements are left to other blocks, which have a part of the elements each. Small matrices have
 * none. */
#define SPMV_LONG 8192
#define SPMV_PART 65536
#define SPMV_PARTS (nnz >= SPMV_PART && nrows > 0 ? nnz / SPMV_PART + (nnz % SPMV_PART > 0) : 0)

#ifdef __CUDA_ARCH__

template <typename T, typename I, typename J> struct spmv_matrix {
    const I *row_ptr;
    const J *col;
    const T *val, *x;
    int64_t nnz;
};

/* Where a row's elements are. */
template <typename I> struct spmv_row {
    I first, last;
};

/* How y becomes what it is to be; what 0 is multiplied with is not read. */
template <typename T> __device__ __forceinline__ void spmv_set(T *y, T alpha, T sum, T beta)
{
    *y = beta == (T)0 ? alpha * sum : alpha * sum + beta * *y;
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

/* A row that does not lie between the block's first and last one, since row_ptr does not ascend: what is read stays
 * within the arrays, whatever row_ptr says within its range. */
template <typename T, typename I, typename J>
__device__ __noinline__ T spmv_sum_apart(spmv_matrix<T, I, J> a, I first, I last)
{
    return spmv_sum_of_row(a, first, last, 1);
}

/* Rows first_row to first_row + rows - 1. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_rows(const spmv_matrix<T, I, J> &a, int64_t first_row, int rows, bool has_parts,
                                          T *y, T alpha, T beta)
{
    __shared__ alignas(16) T values[SPMV_TILE + 4];
    __shared__ alignas(16) J columns[SPMV_TILE + 4];
    const int lanes = (int)blockDim.x, number = (int)threadIdx.y;
    const I *row_ptr = a.row_ptr + first_row;
    const I begin = __ldg(row_ptr), end = __ldg(row_ptr + rows);
    spmv_row<I> row = {begin, begin};
    if (number < rows)
        row = {__ldg(row_ptr + number), __ldg(row_ptr + number + 1)};
    T sum = 0;
    if (row.first < row.last && (row.first < begin || row.last > end)) {
        sum = threadIdx.x ? (T)0 : spmv_sum_apart(a, row.first, row.last);
        row.last = row.first;
    }
    bool is_left = false, has_left = false;
    bool is_even = row.last <= row.first || row.last - row.first <= SPMV_EVEN * lanes;
    if (has_parts && end > begin && end - begin >= SPMV_LONG) {
        is_left = row.last > row.first && row.last - row.first >= SPMV_LONG;
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
        const I base = from & ~(I)3; /* which 16 bytes begin with */
        spmv_copy(values, a.val + base, (int)(to - base), a.nnz - base);
        spmv_copy(columns, a.col + base, (int)(to - base), a.nnz - base);
        __pipeline_commit();
        const int first = (int)((row.first <= from ? from : row.first < to ? row.first : to) - base);
        const int last = is_left || row.last <= from ? 0 : (int)((row.last < to ? row.last : to) - base);
        __pipeline_wait_prior(0);
        is_even = __syncthreads_and(is_even);
        if (is_even) {
            sum += spmv_sum_even(values, columns, a.x, first, last, lanes);
        } else {
            spmv_multiply(values, columns, a.x, (int)(from - base), (int)(to - base));
            __syncthreads();
            sum += spmv_sum_uneven(values, first, last, lanes);
        }
        from = to;
        if (from < end)
            __syncthreads();
    }
    if (is_even)
        sum = spmv_sum_of(sum, lanes);
    if (number < rows && threadIdx.x == 0 && !is_left)
        spmv_set(y + first_row + number, alpha, sum, beta);
}

/* ---- Blocks of elements ---- */

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

/* The last row that begins at `element` or in front of it, found by a warp. */
template <typename I> __device__ __forceinline__ int64_t spmv_find(const I *row_ptr, int64_t nrows, int64_t element)
{
    int64_t first = 0, behind = nrows;
    while (behind - first > 1) {
        const int64_t step = (behind - first + 31) / 32, at = first + (spmv_thread() % 32 + 1) * step;
        const unsigned int before = __ballot_sync(0xffffffffu, at < behind && __ldg(row_ptr + at) <= element);
        const int64_t steps = __popc(before);
        behind = first + (steps + 1) * step < behind ? first + (steps + 1) * step : behind;
        first += steps * step;
    }
    return first;
}

/* The sum of a row that parts have, by the last of them that arrives. */
template <typename T> __device__ __forceinline__ T spmv_sum_of_parts(const T *partial, int64_t first, int64_t last)
{
    T sum = 0;
    for (int64_t part = first + spmv_thread(); part <= last; part += blockDim.x * blockDim.y)
        sum += __ldcg(partial + 2 * part + (part == first));
    return spmv_sum_of_block(sum);
}

/* What the long rows have among the elements of a part. A long row has an element whose number SPMV_LONG divides. */
template <typename T, typename I, typename J>
__device__ __noinline__ void spmv_part(spmv_matrix<T, I, J> a, int64_t part, int64_t nrows, T *partial,
                                       unsigned int *arrived, T *y, T alpha, T beta)
{
    constexpr int places = SPMV_PART / SPMV_LONG + 1; /* the first element behind the part, too */
    __shared__ int64_t found[places];
    __shared__ bool is_last;
    const int thread = spmv_thread(), threads = (int)(blockDim.x * blockDim.y);
    const int64_t begin = part * SPMV_PART, end = begin + SPMV_PART;
    for (int place = thread / 32; place < places; place += threads / 32) {
        const int64_t element = begin + (int64_t)place * SPMV_LONG, row = spmv_find(a.row_ptr, nrows, element);
        const int64_t first = a.row_ptr[row], last = a.row_ptr[row + 1];
        if (thread % 32 == 0)
            found[place] = first <= element && element < last && last - first >= SPMV_LONG ? row : -1;
    }
    __syncthreads();
    int64_t before = -1;
    for (int place = 0; place < places; place++) {
        const int64_t row = found[place];
        if (row < 0 || row == before)
            continue;
        before = row;
        const int64_t first = a.row_ptr[row], last = a.row_ptr[row + 1];
        const int64_t from = first > begin ? first : begin, to = last < end ? last : end;
        if (from >= to)
            continue;
        T sum = spmv_sum_of_block(spmv_sum_of_row(a, from + thread, to, threads));
        if (from == first && to == last) {
            if (thread == 0)
                spmv_set(y + row, alpha, sum, beta);
            continue;
        }
        const int64_t first_part = first / SPMV_PART, last_part = (last - 1) / SPMV_PART;
        if (thread == 0) {
            __stcg(partial + 2 * part + (part == first_part), sum);
            __threadfence(); /* the sum is there before the part is counted */
            is_last = atomicAdd(arrived + first_part, 1u) == (unsigned int)(last_part - first_part);
            __threadfence(); /* and nothing is read before */
        }
        __syncthreads();
        if (is_last) {
            sum = spmv_sum_of_parts(partial, first_part, last_part);
            if (thread == 0)
                spmv_set(y + row, alpha, sum, beta);
        }
    }
}

#endif

/* Sets y to alpha A x + beta y, of a matrix of nrows rows and ncols columns that has nnz elements: row i has elements
 * row_ptr[i] to row_ptr[i + 1] - 1 of val, in the columns that col says, in any order. row_ptr has nrows + 1 elements,
 * which lie in [0, nnz] and ascend; columns lie in [0, ncols). The plain call checks both ranges, and not that row_ptr
 * ascends: where it does not, results may be wrong, and nothing outside of the arrays is read. y is not read where beta
 * is 0; it must overlap no other array, which the plain call checks. The same call gives the same bits each time;
 * kernels/README.md says in which order sums are. */
#pragma cf kernel blocks(SPMV_ROW_BLOCKS + SPMV_PARTS) block(SPMV_LANES, SPMV_ROWS) host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows]) \
    scratch(partial[2 * SPMV_PARTS], arrived[SPMV_PARTS]) zero(arrived) \
    check(0 <= row_ptr[:] <= nnz, 0 <= col[:] < ncols) tolerance((sizeof(T) == 8 ? 1e-15 : 1e-6) * (nnz + 16)) \
    bytes(nnz * (1.0 * sizeof(T) + sizeof(J)) + nrows * (2.0 * sizeof(T) + sizeof(I)) + 1.0 * ncols * sizeof(T)) \
    flops(2.0 * nnz + 3.0 * nrows)
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(256, 6)
    spmv(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
         const T *__restrict__ x, T beta, T *__restrict__ y, T *__restrict__ partial,
         unsigned int *__restrict__ arrived, int64_t nrows, int64_t ncols, int64_t nnz)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, nnz};
    const unsigned int parts = (unsigned int)(SPMV_PARTS), block = blockIdx.x;
    /* One block in eight has a part, from the first on: long rows take longest. */
    const int shift = gridDim.x / 8 >= parts ? 3 : 0;
    const unsigned int part = block >> shift, before = part + (part << shift != block);
    if (part << shift == block && part < parts) {
        spmv_part(a, part, nrows, partial, arrived, y, alpha, beta);
        return;
    }
    const int64_t first = (int64_t)(block - (before < parts ? before : parts)) * blockDim.y, left = nrows - first;
    spmv_rows(a, first, left < blockDim.y ? (int)left : (int)blockDim.y, parts > 0, y, alpha, beta);
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
