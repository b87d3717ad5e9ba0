/* spmv - y = alpha A x + beta y, where the matrix A has its rows one behind the other (CSR) */
#include <stdint.h>

/* A block has 128 threads, and as many rows where these have few elements; else neighbouring lanes share a row, up to a
 * warp. */
#define SPMV_THREADS 128
#define SPMV_HAVE(rows) ((rows) * nnz <= 1792 * nrows)
#define SPMV_ROWS \
    (4 + 4 * SPMV_HAVE(8) + 8 * SPMV_HAVE(16) + 16 * SPMV_HAVE(32) + 32 * SPMV_HAVE(64) + 64 * SPMV_HAVE(128))
#define SPMV_LANES \
    (32 - 16 * SPMV_HAVE(8) - 8 * SPMV_HAVE(16) - 4 * SPMV_HAVE(32) - 2 * SPMV_HAVE(64) - SPMV_HAVE(128))
#define SPMV_ROW_BLOCKS ((nrows - 1) / SPMV_ROWS + (nrows > 0))

/* Elements of a lane up to which the rows of a warp count as being of one length. */
#define SPMV_EVEN 16

/* Products of elements of A and x that a block has at a time, in shared memory, of rows of other lengths. */
#define SPMV_TILE 512

/* Rows of so many elements are left to other blocks, which have a part of the elements each. Small matrices have
 * none. */
#define SPMV_LONG 8192
#define SPMV_PART 16384
#define SPMV_PARTS (nnz >= SPMV_PART && nrows > 0 ? nnz / SPMV_PART + (nnz % SPMV_PART > 0) : 0)

#ifdef __CUDA_ARCH__

template <typename T, typename I, typename J> struct spmv_matrix {
    const I *row_ptr;
    const J *col;
    const T *val, *x;
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

/* A thread's part of a row, of which it has every `step`th element, `together` at once: their loads do not wait for one
 * another. What others read of the same 32 bytes comes from the first cache, so that no hint is given. */
template <int together, typename T, typename I, typename J>
__device__ __forceinline__ T spmv_sum_of_row(const spmv_matrix<T, I, J> &a, int64_t first, int64_t last, int step)
{
    T sum = 0;
    for (int64_t k = first; k < last; k += together * step) {
        J at[together];
        T value[together];
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * step < last) {
                at[u] = __ldg(a.col + k + u * step);
                value[u] = __ldg(a.val + k + u * step);
            }
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * step < last)
                value[u] *= __ldg(a.x + at[u]);
#pragma unroll
        for (int u = 0; u < together; u++)
            if (k + u * step < last)
                sum += value[u];
    }
    return sum;
}

/* ---- Blocks of rows ---- */

/* Two rows that a lane has half of, of eight elements at most: all loads of both are under way at once. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_two_rows(const spmv_matrix<T, I, J> &a, const spmv_row<I> (&row)[2], T (&sum)[2])
{
    J at[2][4];
    T value[2][4];
    const int lane = (int)threadIdx.y % 2;
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (row[r].first + lane + 2 * u < row[r].last) {
                at[r][u] = __ldg(a.col + row[r].first + lane + 2 * u);
                value[r][u] = __ldg(a.val + row[r].first + lane + 2 * u);
            }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (row[r].first + lane + 2 * u < row[r].last)
                value[r][u] *= __ldg(a.x + at[r][u]);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        sum[r] = 0;
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (row[r].first + lane + 2 * u < row[r].last)
                sum[r] += value[r][u];
        sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], 1);
    }
}

/* A warp's rows, where all of them have few elements; false: they have not, and nothing is done. */
template <typename T, typename I, typename J>
__device__ __forceinline__ bool spmv_rows_even(const spmv_matrix<T, I, J> &a, int64_t first_row, int rows, T *y,
                                               T alpha, T beta)
{
    const int lanes = (int)blockDim.x;
    const I *row_ptr = a.row_ptr + first_row;
    if (lanes == 1) {
        const int thread = (int)threadIdx.y, number = thread / 32 * 32 + thread % 32 / 2;
        spmv_row<I> row[2] = {{0, 0}, {0, 0}};
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (number + 16 * r < rows)
                row[r] = {__ldg(row_ptr + number + 16 * r), __ldg(row_ptr + number + 16 * r + 1)};
        if (!__all_sync(0xffffffffu, row[0].last - row[0].first <= 8 && row[1].last - row[1].first <= 8))
            return false;
        T sum[2];
        spmv_two_rows(a, row, sum);
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (thread % 2 == 0 && number + 16 * r < rows)
                spmv_set(y + first_row + number + 16 * r, alpha, sum[r], beta);
        return true;
    }
    const int number = (int)threadIdx.y;
    spmv_row<I> row = {0, 0};
    if (number < rows)
        row = {__ldg(row_ptr + number), __ldg(row_ptr + number + 1)};
    if (!__all_sync(0xffffffffu, row.last - row.first <= SPMV_EVEN * lanes))
        return false;
    const T sum = spmv_sum_of(spmv_sum_of_row<4>(a, (int64_t)row.first + threadIdx.x, row.last, lanes), lanes);
    if (threadIdx.x == 0 && number < rows)
        spmv_set(y + first_row + number, alpha, sum, beta);
    return true;
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

/* A block's rows of any lengths: products of all elements, by all threads, and then sums of these, of the warps that
 * have done nothing so far. A row that does not lie between the first and the last one, since row_ptr does not
 * ascend, is summed up by itself: what is read stays within the arrays, whatever row_ptr says within its range. */
template <typename T, typename I, typename J>
__device__ __noinline__ void spmv_rows_uneven(spmv_matrix<T, I, J> a, int64_t first_row, int rows, bool is_done,
                                              bool has_parts, T *y, T alpha, T beta)
{
    __shared__ T products[SPMV_TILE];
    constexpr int items = SPMV_TILE / SPMV_THREADS;
    const int lanes = (int)blockDim.x, number = (int)threadIdx.y, thread = spmv_thread();
    const I *row_ptr = a.row_ptr + first_row;
    const I begin = __ldg(row_ptr), end = __ldg(row_ptr + rows);
    spmv_row<I> row = {begin, begin};
    if (number < rows && !is_done)
        row = {__ldg(row_ptr + number), __ldg(row_ptr + number + 1)};
    T sum = 0;
    if (row.first < row.last && (row.first < begin || row.last > end)) {
        sum = threadIdx.x ? (T)0 : spmv_sum_of_row<1>(a, row.first, row.last, 1);
        row.last = row.first;
    }
    bool is_left = false, has_left = false;
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
        const J *col = a.col + from + thread;
        const T *val = a.val + from + thread;
        const int count = (int)(to - from);
        J at[items];
        T value[items];
#pragma unroll
        for (int k = 0; k < items; k++)
            if (thread + k * SPMV_THREADS < count) {
                at[k] = __ldg(col + k * SPMV_THREADS);
                value[k] = __ldg(val + k * SPMV_THREADS);
            }
#pragma unroll
        for (int k = 0; k < items; k++)
            if (thread + k * SPMV_THREADS < count)
                value[k] *= __ldg(a.x + at[k]);
#pragma unroll
        for (int k = 0; k < items; k++)
            if (thread + k * SPMV_THREADS < count)
                products[thread + k * SPMV_THREADS] = value[k];
        __syncthreads();
        const int first = (int)((row.first <= from ? from : row.first < to ? row.first : to) - from);
        const int last = is_left || row.last <= from ? 0 : (int)((row.last < to ? row.last : to) - from);
        sum += spmv_sum_uneven(products, first, last, lanes);
        from = to;
        if (from < end)
            __syncthreads();
    }
    if (number < rows && threadIdx.x == 0 && !is_left && !is_done)
        spmv_set(y + first_row + number, alpha, sum, beta);
}

/* ---- Blocks of elements ---- */

template <typename T> __device__ __forceinline__ T spmv_sum_of_block(T value)
{
    __shared__ T sums[SPMV_THREADS / 32];
    const int thread = spmv_thread();
    value = spmv_sum_of(value, 32);
    __syncthreads();
    if (thread % 32 == 0)
        sums[thread / 32] = value;
    __syncthreads();
    value = sums[0];
#pragma unroll
    for (int warp = 1; warp < SPMV_THREADS / 32; warp++)
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
    for (int64_t part = first + spmv_thread(); part <= last; part += SPMV_THREADS)
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
    const int thread = spmv_thread();
    const int64_t begin = part * SPMV_PART, end = begin + SPMV_PART;
    for (int place = thread / 32; place < places; place += SPMV_THREADS / 32) {
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
        T sum = spmv_sum_of_block(spmv_sum_of_row<4>(a, from + thread, to, SPMV_THREADS));
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
__global__ void __launch_bounds__(SPMV_THREADS, sizeof(T) + sizeof(J) > 8 ? 8 : 12)
    spmv(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
         const T *__restrict__ x, T beta, T *__restrict__ y, T *__restrict__ partial,
         unsigned int *__restrict__ arrived, int64_t nrows, int64_t ncols, int64_t nnz)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x};
    const unsigned int parts = (unsigned int)(SPMV_PARTS), block = blockIdx.x;
    /* One block in eight has a part, from the first on: long rows take longest. */
    const int shift = gridDim.x / 8 >= parts ? 3 : 0;
    const unsigned int part = block >> shift, before = part + (part << shift != block);
    if (part << shift == block && part < parts) {
        spmv_part(a, part, nrows, partial, arrived, y, alpha, beta);
        return;
    }
    const int64_t first = (int64_t)(block - (before < parts ? before : parts)) * blockDim.y, left = nrows - first;
    const int rows = left < blockDim.y ? (int)left : (int)blockDim.y;
    const bool is_done = spmv_rows_even(a, first, rows, y, alpha, beta);
    if (__syncthreads_or(!is_done))
        spmv_rows_uneven(a, first, rows, is_done, parts > 0, y, alpha, beta);
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
