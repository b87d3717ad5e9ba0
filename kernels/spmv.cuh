/* spmv.cuh - multiplies and adds elements of a sparse matrix with a warp of a GPU */
#ifndef KERNELS_SPMV_CUH
#define KERNELS_SPMV_CUH

#include <stdint.h>

#include "spmv.h"

/* Number of blocks that run on a multiprocessor at once: `blocks`, or as many as its number of threads allows. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ / 100 == 10
#define SPMV_RESIDENT(blocks) (blocks)
#else
#define SPMV_RESIDENT_MOST ((__CUDA_ARCH__ < 800 ? 1024 : 1536) / SPMV_THREADS)
#define SPMV_RESIDENT(blocks) ((blocks) < SPMV_RESIDENT_MOST ? (blocks) : SPMV_RESIDENT_MOST)
#endif

/* Sets *y to alpha sum + beta *y; *y is not read if beta is 0. */
template <typename T> __device__ __forceinline__ void spmv_set(T *y, T alpha, T sum, T beta)
{
    *y = beta == (T)0 ? alpha * sum : alpha * sum + beta * *y;
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

/* Returns an index plus `more`, as an unsigned number, since indices are not negative: adding an unsigned 32-bit number
 * to an address takes one instruction, a signed one three. */
template <typename I> __device__ __forceinline__ uint64_t spmv_at(I index, unsigned int more = 0)
{
    return sizeof(I) == 4 ? (uint32_t)index + more : (uint64_t)index + more;
}

/* Keeps the compiler from widening the index at its load, which takes two registers and a branch. */
__device__ __forceinline__ void spmv_hold(int32_t &index)
{
    asm volatile("" : "+r"(index));
}
__device__ __forceinline__ void spmv_hold(int64_t &index)
{
    asm volatile("" : "+l"(index));
}

/* Returns the sum over a warp, in each lane. */
template <typename T> __device__ __forceinline__ T spmv_sum_of(T value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(SPMV_WARP, value, distance);
    return value;
}

/* Multiplies every 32nd of `left` elements, at most `count`, except the first if `skips` is set. Loads do not wait for
 * one another. They use the L1 cache, where other lanes find the rest of the same 32 bytes. */
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

/* Returns a warp's sum of the products of elements `first` to `last` - 1, which are fewer than 2^31; 0 if `last` is
 * less than `first`. Loads begin at a multiple of 32 elements, where a cache line begins if elements have four bytes;
 * otherwise each load would need two lines. */
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
    for (int left = last < first ? 0 : (int)(last - from); left > 0; left -= 32 * count) {
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

#endif
#endif
