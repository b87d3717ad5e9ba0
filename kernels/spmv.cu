/* spmv - y = alpha A x + beta y, where the matrix A has its rows one behind the other (CSR). Each block has some rows:
 * even ones are summed up by some lanes each, others by way of all products, in shared memory; long rows are left to a
 * second kernel, which splits them into parts. */
#include <stdint.h>

#include "spmv.h"

/* Sets y to alpha A x + beta y, of a matrix of nrows rows and ncols columns that has nnz elements: row i has elements
 * row_ptr[i] to row_ptr[i + 1] - 1 of val, in the columns that col says, in any order. row_ptr has nrows + 1 elements,
 * which lie in [0, nnz] and ascend; columns lie in [0, ncols). The plain call checks all of that. Elements in front of
 * row_ptr[0] and behind row_ptr[nrows] are of no row. y is not read where beta is 0; it must overlap no other array,
 * which the plain call checks. The same call gives the same bits each time; kernels/README.md says in which order sums
 * are. */
#pragma cf operation in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows]) \
    scratch(part[SPMV_PARTS], done[SPMV_PARTS], count[nnz >= SPMV_LONG], partial[SPMV_PARTS]) zero(count) \
    check(0 <= row_ptr[:] <= nnz, 0 <= col[:] < ncols) ascending(row_ptr) \
    uses(spmv_rows, spmv_wide_rows, spmv_long_rows) tolerance((sizeof(T) == 8 ? 1e-15 : 1e-6) * (nnz + 16)) \
    bytes(nnz * (1.0 * sizeof(T) + sizeof(J)) + nrows * (2.0 * sizeof(T) + sizeof(I)) + 1.0 * ncols * sizeof(T)) \
    flops(2.0 * nnz + 3.0 * nrows)
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
void spmv(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
          const T *__restrict__ x, T beta, T *__restrict__ y, uint64_t *part, unsigned int *done,
          unsigned long long *count, T *partial, int64_t nrows, int64_t ncols, int64_t nnz);

/* How y becomes what it is to be; what 0 is multiplied with is not read. */
template <typename T> __device__ __forceinline__ void spmv_set(T *y, T alpha, T sum, T beta)
{
    *y = beta == (T)0 ? alpha * sum : alpha * sum + beta * *y;
}

#ifdef __CUDA_ARCH__

#define SPMV_WARP 0xffffffffu

/* A block's rows, counted from its first one. */
template <typename T, typename I, typename J> struct spmv_matrix {
    const I *row_ptr;
    const J *col;
    const T *val, *x;
    T *y;
    int rows;
};

/* The parts of long rows that blocks have found: which row, and which part of it; of a row's first part also how many
 * are done. */
struct spmv_list {
    uint64_t *part;
    unsigned int *done;
    unsigned long long *count;
    int64_t room;
};

/* A part's word has the row above these bits, and its number in the row in them. */
#define SPMV_ROW_BITS 13
#define SPMV_NO_PART (~(uint64_t)0)

/* The sum of a group of neighbouring lanes, as many as a power of two, in each of them. */
template <typename T> __device__ __forceinline__ T spmv_sum_of(T value, int lanes)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(SPMV_WARP, value, distance);
    return value;
}

/* Products of every `step`th of `left` elements, as many as there is room for; their loads do not wait for one another.
 * What others read of the same 32 bytes comes from the first cache, so that no hint is given. */
template <int step, int count, typename T, typename J>
__device__ __forceinline__ void spmv_multiply(const J *col, const T *val, const T *x, int64_t left, T (&product)[count])
{
    J at[count];
#pragma unroll
    for (int u = 0; u < count; u++)
        if (u * step < left) {
            at[u] = __ldg(col + u * step);
            product[u] = __ldg(val + u * step);
        }
#pragma unroll
    for (int u = 0; u < count; u++)
        if (u * step < left)
            product[u] *= __ldg(x + at[u]);
}

/* ---- Even rows ---- */

/* What of one row at most two lanes take at once, without a second turn. */
#define SPMV_SHORT 8

/* Rows that some lanes have each, in turns of four elements a lane. */
template <int lanes, typename T, typename I, typename J>
__device__ __forceinline__ void spmv_even_rows(const spmv_matrix<T, I, J> &a, T alpha, T beta)
{
    const int lane = (int)threadIdx.x % lanes;
#pragma unroll 1
    for (int base = 0; base < a.rows; base += SPMV_THREADS / lanes) {
        const int row = base + (int)threadIdx.x / lanes;
        I first = 0, last = 0;
        if (row < a.rows) {
            first = __ldg(a.row_ptr + row);
            last = __ldg(a.row_ptr + row + 1);
        }
        const J *col = a.col + first + lane;
        const T *val = a.val + first + lane;
        T sum = 0;
#pragma unroll 1
        for (int left = (first < last ? (int)(last - first) : 0) - lane; __any_sync(SPMV_WARP, left > 0); left -= 4 * lanes) {
            T product[4];
            spmv_multiply<lanes>(col, val, a.x, left, product);
#pragma unroll
            for (int u = 0; u < 4; u++)
                if (u * lanes < left)
                    sum += product[u];
            col += 4 * lanes;
            val += 4 * lanes;
        }
        sum = spmv_sum_of(sum, lanes);
        if (lane == 0 && row < a.rows)
            spmv_set(a.y + row, alpha, sum, beta);
    }
}

/* Rows of eight elements at most: two lanes have two rows, and all loads of both are under way at once. False: some row
 * of the block has more, and nothing is done. */
template <typename T, typename I, typename J>
__device__ __forceinline__ bool spmv_short_rows(const spmv_matrix<T, I, J> &a, T alpha, T beta)
{
    const int lane = (int)threadIdx.x % 2, number = (int)threadIdx.x / 32 * 32 + (int)threadIdx.x % 32 / 2;
    I first[2] = {0, 0}, last[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; r++)
        if (number + 16 * r < a.rows) {
            first[r] = __ldg(a.row_ptr + number + 16 * r);
            last[r] = __ldg(a.row_ptr + number + 16 * r + 1);
        }
    if (!__syncthreads_and(last[0] - first[0] <= SPMV_SHORT && last[1] - first[1] <= SPMV_SHORT))
        return false;
    const J *col[2];
    const T *val[2];
    int left[2];
    J at[2][4];
    T product[2][4];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        col[r] = a.col + first[r] + lane;
        val[r] = a.val + first[r] + lane;
        left[r] = (first[r] < last[r] ? (int)(last[r] - first[r]) : 0) - lane;
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (2 * u < left[r]) {
                at[r][u] = __ldg(col[r] + 2 * u);
                product[r][u] = __ldg(val[r] + 2 * u);
            }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (2 * u < left[r])
                product[r][u] *= __ldg(a.x + at[r][u]);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        T sum = 0;
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (2 * u < left[r])
                sum += product[r][u];
        sum += __shfl_xor_sync(SPMV_WARP, sum, 1);
        if (lane == 0 && number + 16 * r < a.rows)
            spmv_set(a.y + number + 16 * r, alpha, sum, beta);
    }
    return true;
}

/* ---- Rows of any lengths ---- */

/* A long row has more elements a part where it would have too many parts. */
__device__ __forceinline__ int64_t spmv_part_of(int64_t length)
{
    return length <= (int64_t)SPMV_PART * SPMV_PARTS_OF_A_ROW ? SPMV_PART
                                                              : (length / SPMV_PARTS_OF_A_ROW / 32 + 1) * 32;
}

/* Puts a long row's parts on the list, by all lanes of a warp. Where row_ptr does not ascend there may be no room, and
 * the row is not summed up. */
__device__ __forceinline__ void spmv_put(const spmv_list &list, int64_t row, int64_t length)
{
    const int lane = (int)threadIdx.x % 32;
    const unsigned int parts = (unsigned int)((length - 1) / spmv_part_of(length) + 1);
    unsigned long long base = 0;
    if (lane == 0)
        base = atomicAdd(list.count, (unsigned long long)parts);
    base = __shfl_sync(SPMV_WARP, base, 0);
    const unsigned long long room = (unsigned long long)list.room;
    const bool has_room = base + parts <= room;
#pragma unroll 1
    for (unsigned int part = (unsigned int)lane; part < parts && base + part < room; part += 32)
        list.part[base + part] = has_room ? (uint64_t)row << SPMV_ROW_BITS | part : SPMV_NO_PART;
    if (has_room && lane == 0)
        list.done[base] = 0;
}

/* The sums of what rows have of a tile's products: a lane sums up few, its warp one row's after the other's where there
 * are many. */
template <typename T> __device__ __forceinline__ T spmv_sum_products(const T *products, int first, int last)
{
    const int lane = (int)threadIdx.x % 32;
    const bool has_many = last - first > 24;
    T sum = 0;
    if (!has_many)
#pragma unroll 2
        for (int k = first; k < last; k++)
            sum += products[k];
    for (unsigned int many = __ballot_sync(SPMV_WARP, has_many); many; many &= many - 1) {
        const int owner = __ffs((int)many) - 1;
        const int begin = __shfl_sync(SPMV_WARP, first, owner), end = __shfl_sync(SPMV_WARP, last, owner);
        T together = 0;
#pragma unroll 1
        for (int k = begin + lane; k < end; k += 32)
            together += products[k];
        together = spmv_sum_of(together, 32);
        if (lane == owner)
            sum = together;
    }
    return sum;
}

/* A block's rows, a thread for each: products of a tile of elements at a time, and then sums of these. Elements of long
 * rows are left out. What is read stays within the arrays, whatever row_ptr says within its range. */
template <int items, typename T, typename I, typename J>
__device__ __forceinline__ void spmv_any_rows(const spmv_matrix<T, I, J> &a, const spmv_list &list, int64_t first_row,
                                              int64_t length, T alpha, T beta)
{
    constexpr int tile = SPMV_THREADS * items;
    __shared__ T products[tile];
    __shared__ unsigned long long next_long, behind_long;
    const int thread = (int)threadIdx.x;
    const I first = __ldg(a.row_ptr + (thread < a.rows ? thread : a.rows));
    const I last = __ldg(a.row_ptr + (thread < a.rows ? thread + 1 : a.rows));
    const I end = __ldg(a.row_ptr + a.rows);
    I from = __ldg(a.row_ptr);
    const bool is_long = last - first >= (end - from >= 4 * length ? length / 8 : length);
    for (unsigned int left = __ballot_sync(SPMV_WARP, is_long); left; left &= left - 1) {
        const int owner = __ffs((int)left) - 1;
        spmv_put(list, first_row + thread / 32 * 32 + owner, __shfl_sync(SPMV_WARP, last - first, owner));
    }
    const bool has_long = __syncthreads_or(is_long);
    T sum = 0;
    for (;;) {
        I stop = end, next = end;
        if (has_long) { /* as far as the next long row, and where to go on behind it */
            __syncthreads();
            if (thread == 0)
                next_long = behind_long = (unsigned long long)end;
            __syncthreads();
            if (is_long && first >= from)
                atomicMin(&next_long, (unsigned long long)first);
            __syncthreads();
            stop = (I)next_long;
            if (is_long && first == stop)
                behind_long = (unsigned long long)last;
            __syncthreads();
            next = (I)behind_long;
        }
#pragma unroll 1
        for (; from < stop; from += tile) {
            const I to = stop - from > tile ? from + tile : stop;
            const int left = (int)(to - from) - thread;
            T product[items];
            spmv_multiply<SPMV_THREADS>(a.col + from + thread, a.val + from + thread, a.x, left, product);
#pragma unroll
            for (int u = 0; u < items; u++)
                if (u * SPMV_THREADS < left)
                    products[thread + u * SPMV_THREADS] = product[u];
            __syncthreads();
            const int low = first <= from ? 0 : (int)((first < to ? first : to) - from);
            const int high = is_long || last <= from ? 0 : (int)((last < to ? last : to) - from);
            sum += spmv_sum_products(products, low, high);
            __syncthreads(); /* before the next products */
            if (stop - from <= tile)
                break;
        }
        if (stop >= end)
            break;
        from = next;
    }
    if (thread < a.rows && !is_long)
        spmv_set(a.y + thread, alpha, sum, beta);
}

/* Whether all rows of a block are about as long as they are on average, as far as lanes have to wait for others. */
template <typename T, typename I, typename J>
__device__ __forceinline__ bool spmv_is_even(const spmv_matrix<T, I, J> &a, int64_t length, int lanes)
{
    const int thread = (int)threadIdx.x;
    const I all = __ldg(a.row_ptr + a.rows) - __ldg(a.row_ptr);
    bool is_even = true;
    if (thread < a.rows) {
        const int64_t own = __ldg(a.row_ptr + thread + 1) - __ldg(a.row_ptr + thread);
        const int64_t turns = (own + 4 * lanes - 1) / (4 * lanes);
        is_even = own < length && turns * lanes * a.rows * 16 <= (int64_t)all * 9 + 4096;
    }
    return __syncthreads_and(is_even);
}

/* ---- Long rows ---- */

/* The sum over a block, in thread 0. */
template <typename T> __device__ __forceinline__ T spmv_sum_of_block(T value)
{
    __shared__ T sums[SPMV_THREADS / 32];
    value = spmv_sum_of(value, 32);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    value = sums[0];
#pragma unroll
    for (int warp = 1; warp < SPMV_THREADS / 32; warp++)
        value += sums[warp];
    return value;
}

/* A block's part of a long row, and the sum of all parts where it is the last one that is done. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_one_part(const spmv_matrix<T, I, J> &a, const spmv_list &list, T *partial,
                                              unsigned long long place, T alpha, T beta)
{
    __shared__ bool is_last;
    const uint64_t word = list.part[place];
    if (word == SPMV_NO_PART)
        return;
    const int64_t row = (int64_t)(word >> SPMV_ROW_BITS), number = (int64_t)(word & ((1 << SPMV_ROW_BITS) - 1));
    const int64_t first = a.row_ptr[row], last = a.row_ptr[row + 1], length = spmv_part_of(last - first);
    const int64_t from = first + number * length, to = last - from < length ? last : from + length;
    const unsigned int parts = (unsigned int)((last - first - 1) / length + 1);
    const J *col = a.col + from + threadIdx.x;
    const T *val = a.val + from + threadIdx.x;
    T sum = 0;
#pragma unroll 1
    for (int64_t left = to - from - threadIdx.x; left > 0; left -= 8 * SPMV_THREADS) {
        T product[8];
        spmv_multiply<SPMV_THREADS>(col, val, a.x, left, product);
#pragma unroll
        for (int u = 0; u < 8; u++)
            if (u * SPMV_THREADS < left)
                sum += product[u];
        col += 8 * SPMV_THREADS;
        val += 8 * SPMV_THREADS;
    }
    sum = spmv_sum_of_block(sum);
    if (parts > 1) {
        const unsigned long long first_place = place - (unsigned long long)number;
        if (threadIdx.x == 0) {
            __stcg(partial + place, sum);
            __threadfence(); /* the sum is there before the part is counted */
            is_last = atomicAdd(list.done + first_place, 1u) + 1 == parts;
            __threadfence(); /* and nothing is read before */
        }
        __syncthreads();
        if (!is_last)
            return;
        sum = 0;
        for (unsigned int part = threadIdx.x; part < parts; part += SPMV_THREADS)
            sum += __ldcg(partial + first_place + part);
        sum = spmv_sum_of_block(sum);
    }
    if (threadIdx.x == 0)
        spmv_set(a.y + row, alpha, sum, beta);
}

#endif

/* Rows of commonly up to 16 elements, two lanes for each. */
#pragma cf kernel internal blocks((nrows + SPMV_THREADS - 1) / SPMV_THREADS) block(SPMV_THREADS) host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], part[room], done[room], count[room > 0])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(128, sizeof(T) + sizeof(J) > 8 ? 8 : 12)
    spmv_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
              const T *__restrict__ x, T beta, T *__restrict__ y, uint64_t *part, unsigned int *done,
              unsigned long long *count, int64_t nrows, int64_t ncols, int64_t nnz, int64_t length, int64_t room)
{
#ifdef __CUDA_ARCH__
    const int64_t first = (int64_t)blockIdx.x * SPMV_THREADS;
    const int rows = nrows - first < SPMV_THREADS ? (int)(nrows - first) : SPMV_THREADS;
    const spmv_matrix<T, I, J> a = {row_ptr + first, col, val, x, y + first, rows};
    if (spmv_short_rows(a, alpha, beta))
        return;
    if (spmv_is_even(a, length, 2))
        spmv_even_rows<2>(a, alpha, beta);
    else
        spmv_any_rows<4>(a, {part, done, count, room}, first, length, alpha, beta);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nrows) {
        const int64_t last = row_ptr[i + 1];
        T sum = 0;
        for (int64_t k = row_ptr[i]; k < last; k++)
            sum += val[k] * x[col[k]];
        spmv_set(y + i, alpha, sum, beta);
    }
#endif
}

/* Rows of commonly more elements, 4 to 32 lanes for each. */
#pragma cf kernel internal blocks((nrows - 1) / (4 * SPMV_THREADS / lanes) + (nrows > 0)) block(SPMV_THREADS) \
    host(grid(nrows)) check(4 <= lanes <= 32) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], part[room], done[room], count[room > 0])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(128, sizeof(T) + sizeof(J) > 8 ? 8 : 12)
    spmv_wide_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                   const T *__restrict__ x, T beta, T *__restrict__ y, uint64_t *part, unsigned int *done,
                   unsigned long long *count, int64_t nrows, int64_t ncols, int64_t nnz, int64_t length, int64_t room,
                   int lanes)
{
#ifdef __CUDA_ARCH__
    const int most = 4 * SPMV_THREADS / lanes;
    const int64_t first = (int64_t)blockIdx.x * most;
    const int rows = nrows - first < most ? (int)(nrows - first) : most;
    const spmv_matrix<T, I, J> a = {row_ptr + first, col, val, x, y + first, rows};
    if (!spmv_is_even(a, length, lanes))
        spmv_any_rows<4>(a, {part, done, count, room}, first, length, alpha, beta);
    else if (lanes == 4)
        spmv_even_rows<4>(a, alpha, beta);
    else if (lanes == 8)
        spmv_even_rows<8>(a, alpha, beta);
    else if (lanes == 16)
        spmv_even_rows<16>(a, alpha, beta);
    else
        spmv_even_rows<32>(a, alpha, beta);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nrows) {
        const int64_t last = row_ptr[i + 1];
        T sum = 0;
        for (int64_t k = row_ptr[i]; k < last; k++)
            sum += val[k] * x[col[k]];
        spmv_set(y + i, alpha, sum, beta);
    }
#endif
}

/* The parts that these have left: the CPU leaves none. */
#pragma cf kernel internal blocks(min(room, 2048)) block(SPMV_THREADS) host(grid(1)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], part[room], done[room], count[room > 0], \
        partial[room])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(128, sizeof(T) + sizeof(J) > 8 ? 8 : 12)
    spmv_long_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                   const T *__restrict__ x, T beta, T *__restrict__ y, uint64_t *part, unsigned int *done,
                   unsigned long long *count, T *partial, int64_t nrows, int64_t ncols, int64_t nnz, int64_t room)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, 0};
    const spmv_list list = {part, done, count, room};
    const unsigned long long all = *count, parts = all < (unsigned long long)room ? all : (unsigned long long)room;
    for (unsigned long long place = blockIdx.x; place < parts; place += gridDim.x) {
        spmv_one_part(a, list, partial, place, alpha, beta);
        __syncthreads(); /* before is_last is another part's */
    }
#endif
}
