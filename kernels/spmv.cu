/* spmv - y = alpha A x + beta y, where the matrix A has its rows one behind the other (CSR). A warp has 32 rows, whose
 * products it puts side by side in shared memory before they are summed up, as CSR-Stream does (Greathouse and Daga,
 * "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format", SC 2014), or one row, where
 * rows have many elements. Long rows are left to another kernel, in parts. */
#include <stdint.h>

#include "spmv.h"

/* Sets y to alpha A x + beta y, of a matrix of nrows rows and ncols columns that has nnz elements: row i has elements
 * row_ptr[i] to row_ptr[i + 1] - 1 of val, in the columns that col says, in any order. row_ptr has nrows + 1 elements,
 * which lie in [0, nnz] and ascend; columns lie in [0, ncols). The plain call checks all of that. Elements in front of
 * row_ptr[0] and behind row_ptr[nrows] are of no row. y is not read where beta is 0; it must overlap no other array,
 * which the plain call checks. The same call gives the same bits each time; kernels/README.md says in which order sums
 * are. */
#pragma cf operation in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows]) \
    scratch(work[SPMV_WORK(nnz)]) zero(work) rezero(work) \
    check(0 <= row_ptr[:] <= nnz, 0 <= col[:] < ncols) ascending(row_ptr) \
    uses(spmv_short_rows, spmv_rows, spmv_wide_rows, spmv_long_rows) \
    tolerance((sizeof(T) == 8 ? 1e-15 : 1e-6) * min(nnz + 16, 4096)) \
    bytes(nnz * (1.0 * sizeof(T) + sizeof(J)) + nrows * (2.0 * sizeof(T) + sizeof(I)) + 1.0 * ncols * sizeof(T)) \
    flops(2.0 * nnz + 3.0 * nrows)
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
void spmv(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
          const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work, int64_t nrows, int64_t ncols,
          int64_t nnz);

/* How y becomes what it is to be; it is not read where beta is 0. */
template <typename T> __device__ __forceinline__ void spmv_set(T *y, T alpha, T sum, T beta)
{
    *y = beta == (T)0 ? alpha * sum : alpha * sum + beta * *y;
}

/* On the CPU a thread sums up a row, in order. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_serial(T alpha, const I *row_ptr, const J *col, const T *val, const T *x, T beta,
                                            T *y, int64_t nrows)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nrows) {
        const int64_t last = row_ptr[i + 1];
        T sum = 0;
        for (int64_t k = row_ptr[i]; k < last; k++)
            sum += val[k] * x[col[k]];
        spmv_set(y + i, alpha, sum, beta);
    }
}

#ifdef __CUDA_ARCH__

#define SPMV_WARP 0xffffffffu

template <typename T, typename I, typename J> struct spmv_matrix {
    const I *row_ptr;
    const J *col;
    const T *val, *x;
    T *y, alpha, beta;
    int64_t rows;
};

/* What is between the kernels: the parts of long rows that warps have found, how many there are, and how many blocks
 * have done with theirs. Of each part it is known which row has it and which part of the row it is, and its sum; of a
 * row's first part also how many of the row are done. All of it is 0 but for the time between these kernels. */
template <typename T> struct spmv_list {
    unsigned long long *work;
    int64_t room;
    __device__ unsigned long long *part(unsigned long long place) const
    {
        return work + SPMV_COUNTS + place;
    }
    __device__ T *sum(unsigned long long place) const
    {
        return (T *)(work + SPMV_COUNTS + room + place); /* eight bytes each */
    }
    __device__ unsigned int *done(unsigned long long place) const
    {
        return (unsigned int *)(work + SPMV_COUNTS + 2 * room) + place;
    }
};

/* A part's word has the row above these bits, and its number in the row in them. */
#define SPMV_ROW_BITS 13
#define SPMV_NO_PART (~0ull)

/* An index, none of which is negative, and some more: of 32 bits they take one instruction to add to an address, and
 * with a sign three. */
template <typename I> __device__ __forceinline__ uint64_t spmv_at(I index, unsigned int more = 0)
{
    return sizeof(I) == 4 ? (uint32_t)index + more : (uint64_t)index + more;
}

/* Keeps a compiler from making the index wider where it is loaded, in two registers and a branch. */
__device__ __forceinline__ void spmv_hold(int32_t &index)
{
    asm volatile("" : "+r"(index));
}
__device__ __forceinline__ void spmv_hold(int64_t &index)
{
    asm volatile("" : "+l"(index));
}

/* The sum over a warp, in each lane. */
template <typename T> __device__ __forceinline__ T spmv_sum_of(T value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(SPMV_WARP, value, distance);
    return value;
}

/* Products of every 32nd of `left` elements, as many as there is room for, without the first where `skips` is set;
 * their loads do not wait for one another. What others read of the same 32 bytes comes from the first cache, so that no
 * hint is given. */
template <int count, typename T, typename J>
__device__ __forceinline__ void spmv_multiply(const J *col, const T *val, const T *x, int left, bool skips,
                                              T (&product)[count])
{
    J at[count];
#pragma unroll
    for (int u = 0; u < count; u++) {
        at[u] = 0;
        if (u * 32 < left && (u > 0 || !skips)) {
            at[u] = __ldg(col + u * 32);
            product[u] = __ldg(val + u * 32);
        }
    }
#pragma unroll
    for (int u = 0; u < count; u++)
        spmv_hold(at[u]);
#pragma unroll
    for (int u = 0; u < count; u++)
        if (u * 32 < left && (u > 0 || !skips))
            product[u] *= __ldg(x + spmv_at(at[u]));
}

/* A warp's sum of the products of the elements from `first` to `last` - 1, fewer than 2^31. It begins in front of them,
 * where 32 elements of four bytes have a cache line of their own: of others each load would take two. */
template <int count, typename T, typename I, typename J>
__device__ __forceinline__ T spmv_sum_elements(const spmv_matrix<T, I, J> &a, I first, I last)
{
    const int lane = (int)(threadIdx.x % 32);
    const I from = first & -32;
    const J *col = a.col + spmv_at(from, lane);
    const T *val = a.val + spmv_at(from, lane);
    bool skips = lane < (int)(first - from);
    T sum = 0;
#pragma unroll 1
    for (int left = (int)(last - from); left > 0; left -= 32 * count) {
        T product[count];
        spmv_multiply(col, val, a.x, left - lane, skips, product);
#pragma unroll
        for (int u = 0; u < count; u++)
            if (u * 32 < left - lane && (u > 0 || !skips))
                sum += product[u];
        skips = false;
        col += 32 * count;
        val += 32 * count;
    }
    return spmv_sum_of(sum);
}

/* ---- Short rows ---- */

/* What of one row two lanes take at once. */
#define SPMV_SHORT 8

/* A warp's 32 rows from `base`, none of more than eight elements: two lanes have two rows, and all loads of both are
 * under way at once. False: some row has more, and nothing is done. */
template <typename T, typename I, typename J>
__device__ __forceinline__ bool spmv_sum_short(const spmv_matrix<T, I, J> &a, int64_t base)
{
    const int lane = (int)(threadIdx.x % 2), row = (int)(threadIdx.x % 32 / 2);
    const int rows = a.rows - base < 32 ? (int)(a.rows - base) : 32;
    const I *row_ptr = a.row_ptr + base + row;
    I first[2] = {0, 0}, last[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; r++)
        if (row + 16 * r < rows) {
            first[r] = __ldg(row_ptr + 16 * r);
            last[r] = __ldg(row_ptr + 16 * r + 1);
        }
    if (__any_sync(SPMV_WARP, last[0] - first[0] > SPMV_SHORT || last[1] - first[1] > SPMV_SHORT))
        return false;
    const J *col[2];
    const T *val[2];
    int left[2];
    J at[2][4];
    T product[2][4];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        col[r] = a.col + spmv_at(first[r], lane);
        val[r] = a.val + spmv_at(first[r], lane);
        left[r] = (sizeof(I) > 4 && last[r] < first[r] ? 0 : (int)(last[r] - first[r])) - lane;
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            at[r][u] = 2 * u < left[r] ? __ldg(col[r] + 2 * u) : (J)0;
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            product[r][u] = 2 * u < left[r] ? __ldg(val[r] + 2 * u) : (T)0;
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            spmv_hold(at[r][u]);
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (2 * u < left[r])
                product[r][u] *= __ldg(a.x + spmv_at(at[r][u]));
#pragma unroll
    for (int r = 0; r < 2; r++) {
        T sum = (product[r][0] + product[r][1]) + (product[r][2] + product[r][3]);
        sum += __shfl_xor_sync(SPMV_WARP, sum, 1);
        if (lane == 0 && row + 16 * r < rows)
            spmv_set(a.y + base + row + 16 * r, a.alpha, sum, a.beta);
    }
    return true;
}

/* ---- Rows of any lengths ---- */

/* A long row has more elements a part where it would have too many parts; a division by what a compiler does not know
 * is left to these. */
__device__ __forceinline__ int64_t spmv_part_of(int64_t length)
{
    return length <= (int64_t)SPMV_PART * SPMV_PARTS_OF_A_ROW ? SPMV_PART
                                                              : (length / SPMV_PARTS_OF_A_ROW / 32 + 1) * 32;
}

__device__ __forceinline__ unsigned int spmv_parts_of(int64_t length, int64_t part)
{
    return (unsigned int)((part == SPMV_PART ? (length - 1) / SPMV_PART : (length - 1) / part) + 1);
}

/* Where part `number` of a row's `parts` begins, of which the last one's end is where another would: a row's own ends,
 * else where elements have a cache line of their own. */
template <typename I>
__device__ __forceinline__ I spmv_begin_of(I first, I last, unsigned int number, unsigned int parts, int64_t length)
{
    return number == 0 ? first : number == parts ? last : (I)((first + number * length) & -32);
}

/* Leaves a long row's parts to spmv_long_rows(), by all lanes of a warp. Where there is no room they are summed up at
 * once, and added in the same order, so that it makes no difference which rows came first. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_leave(const spmv_matrix<T, I, J> &a, const spmv_list<T> &list, int64_t row,
                                           I first, I last)
{
    const unsigned int lane = threadIdx.x % 32;
    const int64_t length = spmv_part_of(last - first);
    const unsigned int parts = spmv_parts_of(last - first, length);
    unsigned long long base = 0;
    if (lane == 0)
        base = atomicAdd(list.work, (unsigned long long)parts);
    base = __shfl_sync(SPMV_WARP, base, 0);
    const unsigned long long room = (unsigned long long)list.room;
    const bool has_room = base + parts <= room;
#pragma unroll 1
    for (unsigned int part = lane; part < parts && base + part < room; part += 32)
        *list.part(base + part) = has_room ? (unsigned long long)row << SPMV_ROW_BITS | part : SPMV_NO_PART;
    if (has_room)
        return;
    T sum = 0;
#pragma unroll 1
    for (unsigned int part = 0; part < parts; part++) {
        const T one = spmv_sum_elements<1>(a, spmv_begin_of(first, last, part, parts, length),
                                           spmv_begin_of(first, last, part + 1, parts, length));
        if (part % 32 == lane)
            sum += one;
    }
    sum = spmv_sum_of(sum);
    if (lane == 0)
        spmv_set(a.y + row, a.alpha, sum, a.beta);
}

/* The sums of what a warp's rows have of a tile's products: a lane sums up its row's, one product after the other, and
 * the warp those of rows that have more than other lanes should wait for. */
template <typename T> __device__ __forceinline__ T spmv_sum_products(const T *products, int first, int last)
{
    const int lane = (int)(threadIdx.x % 32);
    const bool has_many = last - first > 64;
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
        together = spmv_sum_of(together);
        if (lane == owner)
            sum = together;
    }
    return sum;
}

/* A warp's 32 rows from `base`: products of a tile of elements at a time, and then sums of these. A row is long where a
 * warp would take long for all of its own, and it has more than `length` elements. Elements of long rows are left out.
 * What is read stays within the arrays, whatever row_ptr says within its range. */
template <int items, typename T, typename I, typename J>
__device__ __forceinline__ void spmv_sum_rows(const spmv_matrix<T, I, J> &a, const spmv_list<T> &list, int64_t base,
                                              int64_t length)
{
    constexpr int tile = 32 * items;
    __shared__ T tiles[SPMV_THREADS / 32][tile];
    T *products = tiles[threadIdx.x / 32];
    const int lane = (int)(threadIdx.x % 32);
    const int64_t row = base + lane;
    const I first = __ldg(a.row_ptr + (row < a.rows ? row : a.rows));
    const I last = __ldg(a.row_ptr + (row < a.rows ? row + 1 : a.rows));
    const I end = __shfl_sync(SPMV_WARP, last, 31);
    I begin = __shfl_sync(SPMV_WARP, first, 0);
    const bool is_long = last - first >= (end - begin >= 2 * SPMV_LONG ? length : SPMV_LONG);
    unsigned int longs = __ballot_sync(SPMV_WARP, is_long);
    for (unsigned int left = longs; left; left &= left - 1) {
        const int owner = __ffs((int)left) - 1;
        spmv_leave(a, list, base + owner, __shfl_sync(SPMV_WARP, first, owner), __shfl_sync(SPMV_WARP, last, owner));
    }
    T sum = 0;
    for (;; longs &= longs - 1) { /* up to the next long row, and then from behind it */
        const int owner = __ffs((int)longs) - 1;
        const I stop = owner < 0 ? end : __shfl_sync(SPMV_WARP, first, owner);
#pragma unroll 1
        for (I from = begin & -32; from < stop; from += tile) { /* as in spmv_sum_elements() */
            const I low = from < begin ? begin : from, high = stop - from > tile ? from + tile : stop;
            const int left = (int)(high - from) - lane;
            const bool skips = from + lane < low;
            T product[items];
            spmv_multiply(a.col + spmv_at(from, lane), a.val + spmv_at(from, lane), a.x, left, skips, product);
#pragma unroll
            for (int u = 0; u < items; u++)
                if (u * 32 < left && (u > 0 || !skips))
                    products[lane + u * 32] = product[u];
            __syncwarp();
            const int own_first = (int)((first < low ? low : first < high ? first : high) - from);
            const int own_last = is_long || last <= low ? 0 : (int)((last < high ? last : high) - from);
            sum += spmv_sum_products(products, own_first, own_last);
            __syncwarp(); /* before the next products */
            if (stop - from <= tile)
                break;
        }
        if (owner < 0)
            break;
        begin = __shfl_sync(SPMV_WARP, last, owner);
    }
    if (row < a.rows && !is_long)
        spmv_set(a.y + row, a.alpha, sum, a.beta);
}

/* ---- Long rows ---- */

/* A warp's part of a long row, and the sum of all parts where it is the last one that is done. */
template <int count, typename T, typename I, typename J>
__device__ __forceinline__ void spmv_sum_part(const spmv_matrix<T, I, J> &a, const spmv_list<T> &list,
                                              unsigned long long place)
{
    const unsigned int lane = threadIdx.x % 32;
    const unsigned long long word = *list.part(place);
    if (word == SPMV_NO_PART)
        return;
    const int64_t row = (int64_t)(word >> SPMV_ROW_BITS);
    const unsigned int number = (unsigned int)(word & ((1 << SPMV_ROW_BITS) - 1));
    const I first = a.row_ptr[row], last = a.row_ptr[row + 1];
    const int64_t length = spmv_part_of(last - first);
    const unsigned int parts = spmv_parts_of(last - first, length);
    T sum = spmv_sum_elements<count>(a, spmv_begin_of(first, last, number, parts, length),
                                     spmv_begin_of(first, last, number + 1, parts, length));
    if (parts > 1) {
        const unsigned long long begin = place - number;
        bool is_last = false;
        if (lane == 0) {
            __stcg(list.sum(place), sum);
            __threadfence(); /* the sum is there before the part is counted */
            is_last = atomicAdd(list.done(begin), 1u) + 1 == parts;
            __threadfence(); /* and nothing is read before */
        }
        if (!__any_sync(SPMV_WARP, is_last))
            return;
        sum = 0;
        for (unsigned int part = lane; part < parts; part += 32) {
            sum += __ldcg(list.sum(begin + part));
            *(unsigned long long *)list.sum(begin + part) = 0;
        }
        sum = spmv_sum_of(sum);
        if (lane == 0)
            *list.done(begin) = 0;
    }
    if (lane == 0)
        spmv_set(a.y + row, a.alpha, sum, a.beta);
}

#endif

/* Rows of commonly few elements: all loads of a warp whose rows are short are under way at once. What others need has
 * to do with as few registers. */
#pragma cf kernel internal blocks((nrows - 1) / SPMV_THREADS + (nrows > 0)) block(SPMV_THREADS) host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], work[SPMV_WORDS(room)])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, sizeof(T) + sizeof(J) > 8 ? 8 : sizeof(I) > 4 ? 12 : 16)
    spmv_short_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                    const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work,
                    int64_t nrows, int64_t ncols, int64_t nnz, int64_t length, int64_t room)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, alpha, beta, nrows};
    const int64_t base = (int64_t)blockIdx.x * SPMV_THREADS + threadIdx.x / 32 * 32;
    if (base < nrows && !spmv_sum_short(a, base))
        spmv_sum_rows<4>(a, {work, room}, base, length);
#else
    spmv_serial(alpha, row_ptr, col, val, x, beta, y, nrows);
#endif
}

/* Rows of commonly more: large tiles, so that warps are seldom between two of them. */
#pragma cf kernel internal blocks((nrows - 1) / SPMV_THREADS + (nrows > 0)) block(SPMV_THREADS) host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], work[SPMV_WORDS(room)])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, 8)
    spmv_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
              const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work,
              int64_t nrows, int64_t ncols, int64_t nnz, int64_t length, int64_t room)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, alpha, beta, nrows};
    const int64_t base = (int64_t)blockIdx.x * SPMV_THREADS + threadIdx.x / 32 * 32;
    if (base < nrows)
        spmv_sum_rows<(sizeof(T) + sizeof(J) > 8 ? 8 : 14)>(a, {work, room}, base, length);
#else
    spmv_serial(alpha, row_ptr, col, val, x, beta, y, nrows);
#endif
}

/* Rows of many elements, or too few rows to give a warp 32: a warp has one, or leaves it to others where it is of
 * `length` or more. */
#pragma cf kernel internal blocks((nrows - 1) / (SPMV_THREADS / 32) + (nrows > 0)) block(SPMV_THREADS) \
    host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], work[SPMV_WORDS(room)])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, sizeof(T) + sizeof(J) > 8 ? 8 : 12)
    spmv_wide_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                   const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work,
                   int64_t nrows, int64_t ncols, int64_t nnz, int64_t length, int64_t room)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, alpha, beta, nrows};
    const int64_t row = (int64_t)blockIdx.x * (SPMV_THREADS / 32) + threadIdx.x / 32;
    if (row >= nrows)
        return;
    const I first = __ldg(row_ptr + row), last = __ldg(row_ptr + row + 1);
    if (last - first >= length) {
        spmv_leave(a, spmv_list<T>{work, room}, row, first, last);
        return;
    }
    const T sum = spmv_sum_elements<4>(a, first, last);
    if (threadIdx.x % 32 == 0)
        spmv_set(y + row, alpha, sum, beta);
#else
    spmv_serial(alpha, row_ptr, col, val, x, beta, y, nrows);
#endif
}

/* The parts that these have left: the CPU leaves none. */
#pragma cf kernel internal blocks(min((room + 3) / 4, 1584)) block(SPMV_THREADS) host(grid(1)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], work[SPMV_WORDS(room)])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, sizeof(T) + sizeof(J) > 8 ? 8 : 12)
    spmv_long_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                   const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work,
                   int64_t nrows, int64_t ncols, int64_t nnz, int64_t room)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, alpha, beta, nrows};
    const unsigned long long all = work[0], parts = all < (unsigned long long)room ? all : (unsigned long long)room;
    const spmv_list<T> list = {work, room};
    const unsigned long long own = blockIdx.x * (SPMV_THREADS / 32) + threadIdx.x / 32;
    const unsigned long long warps = gridDim.x * (SPMV_THREADS / 32);
    for (unsigned long long place = own; place < parts; place += warps)
        spmv_sum_part<8>(a, list, place);
    __syncwarp(); /* no lane is still to read a part's word */
    /* At last, since a warp waits for what it has written before it says that a part is done. */
    for (unsigned long long place = own + threadIdx.x % 32 * warps; place < parts; place += 32 * warps)
        *list.part(place) = 0;
    __syncthreads(); /* nobody looks at the count any more */
    if (threadIdx.x == 0 && atomicAdd(work + 1, 1ull) + 1 == gridDim.x)
        work[0] = work[1] = 0;
#endif
}
