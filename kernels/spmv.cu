/* spmv - y = alpha A x + beta y, for a sparse matrix A in rows (CSR). A warp has 32 rows, whose products it stores side
 * by side in shared memory before it adds them, as CSR-Stream does (Greathouse and Daga, "Efficient sparse
 * matrix-vector multiplication on GPUs using the CSR storage format", SC 2014). If rows have many elements, a warp has
 * one row. Long rows are divided into parts, which other blocks add. */
#include <stdint.h>

#include "spmv.cuh"
#include "spmv.h"
#include "spmv_long.cuh"

/* Sets y to alpha A x + beta y, for a matrix of nrows rows and ncols columns with nnz elements: row i has elements
 * row_ptr[i] to row_ptr[i + 1] - 1 of val, in the columns that col names, in any order. row_ptr has nrows + 1
 * elements, which lie in [0, nnz] and ascend; columns lie in [0, ncols). The plain call checks all of this. Elements
 * before row_ptr[0] and from row_ptr[nrows] on belong to no row. As in BLAS, y is not read if beta is 0, and A and x are
 * not read if alpha is 0, so that NaN there does not matter; the plain call checks row_ptr and col with any alpha. y
 * must overlap no other array, which the plain call checks. The same call gives the same bits each time;
 * kernels/KERNELS.md has the order of sums. */
#pragma cf operation in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows]) \
    scratch(work[SPMV_WORK(T, nnz)]) zero(work) rezero(work) \
    check(0 <= row_ptr[:] <= nnz, 0 <= col[:] < ncols, ascending(row_ptr)) \
    uses(spmv_y_alone, spmv_short_rows, spmv_rows, spmv_wide_rows, spmv_long_rows) \
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

/* Keeps GCC from gathering elements into vectors; it would add their products one by one, which takes longer. */
#if defined __GNUC__ && !defined __clang__
#define SPMV_APART asm volatile("")
#else
#define SPMV_APART (void)0
#endif

/* Adds rows on the CPU: short rows in order, and longer ones with separate sums of even and odd elements, so that an
 * addition does not wait for the previous one. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_serial(T alpha, const I *row_ptr, const J *col, const T *val, const T *x, T beta,
                                            T *y, int64_t nrows)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nrows) {
        const int64_t last = row_ptr[i + 1];
        int64_t k = row_ptr[i];
        T sum = 0, odd = 0;
        if (last - k >= 16)
            for (; k < last - 1; k += 2) {
                sum += val[k] * x[col[k]];
                SPMV_APART;
                odd += val[k + 1] * x[col[k + 1]];
                SPMV_APART;
            }
        for (; k < last; k++) {
            sum += val[k] * x[col[k]];
            SPMV_APART;
        }
        spmv_set(y + i, alpha, sum + odd, beta);
    }
}

#ifdef __CUDA_ARCH__

/* ---- Short rows ---- */

/* Largest number of elements of a row that two lanes load at once. */
#define SPMV_SHORT 8

/* Adds a warp's 32 rows from `base`. Returns false if one has more than eight elements. Each two lanes share two rows,
 * and all their loads are in flight at once. */
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

/* Position of product k in shared memory. Each 32 products are followed by a gap of one, so that lanes whose rows have
 * the same even length do not read from the same bank. */
#define SPMV_SLOT(k) ((k) + ((k) >> 5))

/* Returns the sums of a tile's products for a warp's rows. A lane adds the products of its row in order; the whole warp
 * adds rows with so many products that other lanes would have to wait. */
template <typename T> __device__ __forceinline__ T spmv_sum_products(const T *products, int first, int last)
{
    const int lane = (int)(threadIdx.x % 32);
    const bool has_many = last - first > 64;
    T sum = 0;
    if (!has_many)
#pragma unroll 2
        for (int k = first; k < last; k++)
            sum += products[SPMV_SLOT(k)];
    for (unsigned int many = __ballot_sync(SPMV_WARP, has_many); many; many &= many - 1) {
        const int owner = __ffs((int)many) - 1;
        const int begin = __shfl_sync(SPMV_WARP, first, owner), end = __shfl_sync(SPMV_WARP, last, owner);
        T together = 0;
#pragma unroll 1
        for (int k = begin + lane; k < end; k += 32)
            together += products[SPMV_SLOT(k)];
        together = spmv_sum_of(together);
        if (lane == owner)
            sum = together;
    }
    return sum;
}

/* Adds a warp's 32 rows from `base`, one tile of products at a time. Long rows are left to other blocks, by each warp
 * or, if is_left_by_block, by the block. Reads stay within the arrays for all values of row_ptr in its range. */
template <int items, bool is_left_by_block, typename T, typename I, typename J>
__device__ __forceinline__ void spmv_sum_rows(const spmv_matrix<T, I, J> &a, const spmv_list<T> &list, int64_t base)
{
    constexpr int tile = 32 * items;
    __shared__ T tiles[SPMV_THREADS / 32][SPMV_SLOT(tile)];
    T *products = tiles[threadIdx.x / 32];
    const int lane = (int)(threadIdx.x % 32);
    const int64_t row = base + lane;
    const I first = __ldg(a.row_ptr + (row < a.rows ? row : a.rows));
    const I last = __ldg(a.row_ptr + (row < a.rows ? row + 1 : a.rows));
    const I end = __shfl_sync(SPMV_WARP, last, 31);
    I begin = __shfl_sync(SPMV_WARP, first, 0);
    const bool is_long = spmv_is_long(list, first, last, begin, end);
    if (!is_left_by_block)
        spmv_leave_long(list, base, first, last, is_long);
    else if (threadIdx.x < 32 && list.room > 0)
        spmv_leave_of_block(list, a.row_ptr, a.rows, base);
    unsigned int longs = __ballot_sync(SPMV_WARP, is_long);
    T sum = 0;
    for (;; longs &= longs - 1) { /* goes up to the next long row, then continues after it */
        const int owner = __ffs((int)longs) - 1;
        const I stop = owner < 0 ? end : __shfl_sync(SPMV_WARP, first, owner);
#pragma unroll 1
        for (I from = begin & -32; from < stop; from += tile) { /* aligned as in spmv_sum_elements() */
            const I low = from < begin ? begin : from, high = stop - from > tile ? from + tile : stop;
            const int left = (int)(high - from) - lane;
            const bool skips = from + lane < low;
            T product[items];
            spmv_multiply(a.col + spmv_at(from, lane), a.val + spmv_at(from, lane), a.x, left, skips, product);
#pragma unroll
            for (int u = 0; u < items; u++)
                if (u * 32 < left && (u > 0 || !skips))
                    products[lane + SPMV_SLOT(u * 32)] = product[u];
            __syncwarp();
            const int own_first = (int)((first < low ? low : first < high ? first : high) - from);
            const int own_last = is_long || last <= low ? 0 : (int)((last < high ? last : high) - from);
            sum += spmv_sum_products(products, own_first, own_last);
            __syncwarp(); /* all products are read before the next are stored */
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

#endif

/* Sets y to beta y, for alpha = 0. */
#pragma cf kernel internal grid(nrows) inout(y[nrows])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void spmv_y_alone(T beta, T *__restrict__ y, int64_t nrows)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nrows)
        y[i] = beta == 0 ? 0 : beta * y[i];
}

/* Kernel for rows that mostly have few elements. All loads of a warp whose rows are short are in flight at once. The
 * code for other rows has to use as few registers. */
#pragma cf kernel internal blocks((nrows - 1) / SPMV_THREADS + 1) block(SPMV_THREADS) host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], work[SPMV_WORDS(T, room)])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, SPMV_RESIDENT(sizeof(T) + sizeof(J) > 8 ? 8 : sizeof(I) > 4 ? 12 : 16))
    spmv_short_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                    const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work,
                    int64_t nrows, int64_t ncols, int64_t nnz, int32_t part, int32_t room)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, alpha, beta, nrows};
    const spmv_list<T> list = {work, part, room};
    const int64_t base = (int64_t)blockIdx.x * SPMV_THREADS + threadIdx.x / 32 * 32;
    if (base < nrows && !spmv_sum_short(a, base))
        spmv_sum_rows<4, false>(a, list, base);
#else
    spmv_serial(alpha, row_ptr, col, val, x, beta, y, nrows);
#endif
}

/* Kernel for rows that mostly have more elements. Tiles are large, so that warps seldom wait between two. The last
 * blocks add the parts of long rows, and begin while others still run. */
#pragma cf kernel internal blocks((nrows - 1) / SPMV_THREADS + 1 + SPMV_BLOCKS(room)) block(SPMV_THREADS) \
    host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], work[SPMV_WORDS(T, room)])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, 8)
    spmv_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
              const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work,
              int64_t nrows, int64_t ncols, int64_t nnz, int32_t part, int32_t room)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, alpha, beta, nrows};
    const spmv_list<T> list = {work, part, room};
    const unsigned int blocks = gridDim.x - (unsigned int)SPMV_BLOCKS(room);
    const int64_t base = (int64_t)blockIdx.x * SPMV_THREADS + threadIdx.x / 32 * 32;
    if (blockIdx.x >= blocks) {
        spmv_wait_until_left(list, blocks);
        spmv_take_parts(a, list, blockIdx.x - blocks, gridDim.x - blocks);
    } else if (base < nrows) {
        spmv_sum_rows<(sizeof(T) + sizeof(J) > 8 ? 8 : 14), true>(a, list, base);
    }
#else
    spmv_serial(alpha, row_ptr, col, val, x, beta, y, nrows);
#endif
}

/* Kernel for rows of many elements, and for too few rows to give each warp 32. A warp has one row. */
#pragma cf kernel internal blocks((nrows - 1) / (SPMV_THREADS / 32) + 1) block(SPMV_THREADS) host(grid(nrows)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], work[SPMV_WORDS(T, room)])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, SPMV_RESIDENT(sizeof(T) + sizeof(J) > 8 ? 8 : 12))
    spmv_wide_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                   const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work,
                   int64_t nrows, int64_t ncols, int64_t nnz, int32_t part, int32_t room, int64_t length)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, alpha, beta, nrows};
    const spmv_list<T> list = {work, part, room};
    const int64_t row = (int64_t)blockIdx.x * (SPMV_THREADS / 32) + threadIdx.x / 32;
    if (row >= nrows)
        return;
    const I first = __ldg(row_ptr + row), last = __ldg(row_ptr + row + 1);
    if (last - first >= length) {
        spmv_leave(list, row, last - first);
        return;
    }
    const T sum = spmv_sum_elements<4>(a, first, last);
    if (threadIdx.x % 32 == 0)
        spmv_set(y + row, alpha, sum, beta);
#else
    spmv_serial(alpha, row_ptr, col, val, x, beta, y, nrows);
#endif
}

/* Adds the parts of long rows that spmv_short_rows and spmv_wide_rows have left. The CPU leaves none. */
#pragma cf kernel internal blocks(SPMV_BLOCKS(room)) block(SPMV_THREADS) host(grid(1)) \
    in(row_ptr[nrows + 1], col[nnz], val[nnz], x[ncols]) inout(y[nrows], work[SPMV_WORDS(T, room)])
#pragma cf instances(f32_i32: float, int32_t, int32_t; f32_i64: float, int64_t, int64_t; \
    f32_i64_i32: float, int64_t, int32_t; f64_i32: double, int32_t, int32_t; f64_i64: double, int64_t, int64_t; \
    f64_i64_i32: double, int64_t, int32_t)
template <typename T, typename I, typename J>
__global__ void __launch_bounds__(SPMV_THREADS, 8)
    spmv_long_rows(T alpha, const I *__restrict__ row_ptr, const J *__restrict__ col, const T *__restrict__ val,
                   const T *__restrict__ x, T beta, T *__restrict__ y, unsigned long long *work,
                   int64_t nrows, int64_t ncols, int64_t nnz, int32_t part, int32_t room)
{
#ifdef __CUDA_ARCH__
    const spmv_matrix<T, I, J> a = {row_ptr, col, val, x, y, alpha, beta, nrows};
    const spmv_list<T> list = {work, part, room};
    if (*work > 0) /* otherwise no part was left */
        spmv_take_parts(a, list, blockIdx.x, gridDim.x);
#else
#endif
}
