/* gather_random.cuh - the steps of a gather that goes through the source window by window, tile by tile of the results.
 *
 * The rank of an index is its position in its tile after sorting by window: the number of indices of earlier
 * windows, plus the number of earlier indices of the same window. Two kernels find ranks and must agree, which they
 * do because ranks are stable. */
#ifndef KERNELS_GATHER_RANDOM_CUH
#define KERNELS_GATHER_RANDOM_CUH

#include <stdint.h>
#include <string.h>

#ifdef __CUDA_ARCH__
#include <cub/block/block_radix_rank.cuh>
#include <cuda_pipeline.h>
#endif

#include "gather_random.h"
#include "stream.cuh"

template <typename U> __device__ __forceinline__ int gather_random_size(int64_t N, int64_t tile)
{
    constexpr int most = GATHER_RANDOM_TILE(sizeof(U));
    return N - tile * most < most ? (int)(N - tile * most) : most;
}

/* Returns the window of an index. Wrong indices, which only the plain call reports, get a valid window. */
template <int BITS> struct gather_random_window {
    int shift;
    __device__ __forceinline__ uint32_t Digit(uint32_t index) const
    {
        return index >> shift & ((1u << BITS) - 1);
    }
};

#ifdef __CUDA_ARCH__

/* Returns the position of a thread's first index in the tile. A warp has consecutive rows of 32 indices. */
__device__ __forceinline__ int gather_random_first()
{
    return (int)(threadIdx.x / 32 * 32 * GATHER_RANDOM_ITEMS + threadIdx.x % 32);
}

/* Loads a thread's indices. Positions past the last index get the last window, and sort after all of its indices. */
template <int BITS, typename I>
__device__ __forceinline__ void gather_random_load(const I *index, int size, bool is_whole, int shift,
                                                   uint32_t (&own)[GATHER_RANDOM_ITEMS])
{
    const int first = gather_random_first();
    if (is_whole)
#pragma unroll
        for (int i = 0; i < GATHER_RANDOM_ITEMS; i++)
            own[i] = (uint32_t)__ldcs(index + first + 32 * i);
    else
#pragma unroll
        for (int i = 0; i < GATHER_RANDOM_ITEMS; i++)
            own[i] = first + 32 * i < size ? (uint32_t)__ldcs(index + first + 32 * i) : ((1u << BITS) - 1) << shift;
}

template <int BITS, typename U, typename I>
__device__ __forceinline__ void gather_random_order_tile(const I *__restrict__ index, U *__restrict__ res,
                                                         uint32_t *__restrict__ starts, int64_t N, int64_t M, int shift,
                                                         int64_t tile)
{
    constexpr int threads = GATHER_RANDOM_THREADS(sizeof(U)), all = GATHER_RANDOM_TILE(sizeof(U)), windows = 1 << BITS;
    constexpr int together = 16 / sizeof(U);
    typedef cub::BlockRadixRankMatchEarlyCounts<threads, BITS, false, cub::BLOCK_SCAN_WARP_SCANS> block_rank;
    static_assert(threads >= windows, "a thread for a window");
    __shared__ typename block_rank::TempStorage memory;
    __shared__ alignas(16) uint32_t ordered[all];
    __shared__ int begins[windows + 1];
    const int size = gather_random_size<U>(N, tile), thread = threadIdx.x;
    index += tile * all;
    res += tile * all;

    uint32_t own[GATHER_RANDOM_ITEMS];
    int ranks[GATHER_RANDOM_ITEMS], begin[1];
    gather_random_load<BITS>(index, size, size == all, shift, own);
    block_rank(memory).RankKeys(own, ranks, gather_random_window<BITS>{shift}, begin);
    if (thread < windows)
        begins[thread] = begin[0];
    if (thread == 0)
        begins[windows] = size;
#pragma unroll
    for (int i = 0; i < GATHER_RANDOM_ITEMS; i++)
        ordered[ranks[i]] = own[i];
    __syncthreads();

    if (thread < GATHER_RANDOM_WINDOWS(shift))
        starts[thread * GATHER_RANDOM_TILES(sizeof(U)) + tile] = (uint32_t)begins[thread] | (uint32_t)begins[thread + 1]
                                                                                                << 16;
    if (size == all && stream_head<together>(res) == 0)
#pragma unroll
        for (int k = 0; k < all / threads / together; k++) {
            const int at = (k * threads + thread) * together;
            stream_piece<U, together> piece;
#pragma unroll
            for (int i = 0; i < together; i++)
                piece.at[i] = ordered[at + i];
            stream_store<U, together, true>(res + at, piece);
        }
    else
#pragma unroll 1
        for (int i = thread; i < size; i += threads)
            __stcs(res + i, (U)ordered[i]);
}

/* Fetches a run of elements with a warp, in rows of 32 that are aligned to the tile's rows. */
template <typename U>
__device__ __forceinline__ void gather_random_fetch_run(const U *__restrict__ source, uint32_t run, U *__restrict__ res)
{
    constexpr int rows = 4;
    const int begin = (int)(run & 0xffff), end = (int)(run >> 16), lane = threadIdx.x % 32;
    for (int row = begin & ~31; row < end; row += 32 * rows) {
        U index[rows], element[rows];
#pragma unroll
        for (int k = 0; k < rows; k++) {
            const int i = row + 32 * k + lane;
            index[k] = i >= begin && i < end ? __ldcs(res + i) : 0;
        }
#pragma unroll
        for (int k = 0; k < rows; k++) {
            const int i = row + 32 * k + lane;
            if (i >= begin && i < end)
                element[k] = __ldg(source + index[k]);
        }
#pragma unroll
        for (int k = 0; k < rows; k++) {
            const int i = row + 32 * k + lane;
            if (i >= begin && i < end)
                __stcs(res + i, element[k]);
        }
    }
}

/* Restores the order of a tile, which is copied to shared memory while ranks are found. */
template <int BITS, typename U, typename I>
__device__ __forceinline__ void gather_random_restore_tile(const I *__restrict__ index, U *__restrict__ res, int64_t N,
                                                           int shift, int64_t tile)
{
    constexpr int threads = GATHER_RANDOM_THREADS(sizeof(U)), all = GATHER_RANDOM_TILE(sizeof(U));
    constexpr int together = 16 / sizeof(U);
    typedef cub::BlockRadixRankMatchEarlyCounts<threads, BITS, false, cub::BLOCK_SCAN_WARP_SCANS> block_rank;
    __shared__ typename block_rank::TempStorage memory;
    __shared__ alignas(16) U ordered[all];
    const int size = gather_random_size<U>(N, tile), thread = threadIdx.x, first = gather_random_first();
    index += tile * all;
    res += tile * all;

    uint32_t own[GATHER_RANDOM_ITEMS];
    int ranks[GATHER_RANDOM_ITEMS];
    gather_random_load<BITS>(index, size, size == all, shift, own);
    if (size == all && stream_head<together>(res) == 0)
#pragma unroll
        for (int k = 0; k < all / threads / together; k++) {
            const int at = (k * threads + thread) * together;
            __pipeline_memcpy_async(ordered + at, res + at, 16);
        }
    else
        for (int i = thread; i < size; i += threads)
            __pipeline_memcpy_async(ordered + i, res + i, sizeof(U));
    __pipeline_commit();
    block_rank(memory).RankKeys(own, ranks, gather_random_window<BITS>{shift});
    __pipeline_wait_prior(0);
    __syncthreads();
    if (size == all)
#pragma unroll
        for (int i = 0; i < GATHER_RANDOM_ITEMS; i++)
            __stcs(res + first + 32 * i, ordered[ranks[i]]);
    else
#pragma unroll
        for (int i = 0; i < GATHER_RANDOM_ITEMS; i++)
            if (first + 32 * i < size)
                __stcs(res + first + 32 * i, ordered[ranks[i]]);
}

#else

/* ---- On the CPU: a thread for a tile ---- */

/* Sets `to` to the position of each window's first index. */
template <int BITS, typename I>
__device__ __forceinline__ void gather_random_begins(const I *index, int size, int shift, uint32_t (&to)[1 << BITS])
{
    const gather_random_window<BITS> window_of = {shift};
    uint32_t sum = 0;
    for (int i = 0; i < size; i++)
        to[window_of.Digit((uint32_t)index[i])]++;
    for (int window = 0; window < 1 << BITS; window++) {
        const uint32_t count = to[window];
        to[window] = sum;
        sum += count;
    }
}

template <int BITS, typename U, typename I>
__device__ __forceinline__ void gather_random_order_tile(const I *index, U *res, uint32_t *starts, int64_t N, int64_t M,
                                                         int shift, int64_t tile)
{
    const int size = gather_random_size<U>(N, tile);
    const gather_random_window<BITS> window_of = {shift};
    uint32_t to[1 << BITS] = {};
    index += tile * GATHER_RANDOM_TILE(sizeof(U));
    res += tile * GATHER_RANDOM_TILE(sizeof(U));
    gather_random_begins<BITS>(index, size, shift, to);
    for (int64_t window = 0; window < GATHER_RANDOM_WINDOWS(shift); window++) {
        const uint32_t end = window < (1 << BITS) - 1 ? to[window + 1] : (uint32_t)size;
        starts[window * GATHER_RANDOM_TILES(sizeof(U)) + tile] = to[window] | end << 16;
    }
    for (int i = 0; i < size; i++)
        res[to[window_of.Digit((uint32_t)index[i])]++] = (U)index[i];
}

template <typename U> __device__ __forceinline__ void gather_random_fetch_run(const U *source, uint32_t run, U *res)
{
    for (uint32_t i = run & 0xffff; i < run >> 16; i++)
        res[i] = source[res[i]];
}

template <int BITS, typename U, typename I>
__device__ __forceinline__ void gather_random_restore_tile(const I *index, U *res, int64_t N, int shift, int64_t tile)
{
    const int size = gather_random_size<U>(N, tile);
    const gather_random_window<BITS> window_of = {shift};
    uint32_t to[1 << BITS] = {};
    U ordered[GATHER_RANDOM_TILE(sizeof(U))];
    index += tile * GATHER_RANDOM_TILE(sizeof(U));
    res += tile * GATHER_RANDOM_TILE(sizeof(U));
    gather_random_begins<BITS>(index, size, shift, to);
    memcpy(ordered, res, (size_t)size * sizeof(U));
    for (int i = 0; i < size; i++)
        res[i] = ordered[to[window_of.Digit((uint32_t)index[i])]++];
}

#endif
#endif
