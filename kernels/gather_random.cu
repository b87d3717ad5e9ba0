/* gather_random - res[i] = source[index[i]], where indices are in no order and the source fits no cache. For each
 * element a sector of 32 bytes would be read from memory. So elements are fetched window by window of the source, each
 * of which fits the second cache: first each tile of indices is put into the order of their windows, in res itself,
 * then elements take the places of their indices, and in the end each tile is put back into its own order. Which
 * element goes where is found anew for that: this takes little more time than to keep it would, and no memory. */
#include <stdint.h>

#include "gather_random.cuh"

/* Gathers N elements of source, which has M: res[i] = source[index[i]], as cf_gather does; for indices in no order. On a
 * GPU it goes through source window by window where that has more than 32 MiB and 4 GiB at most, and N is 2^22 or more
 * and at least M / 8; else, and on the CPU, it is cf_gather. Where indices are in order it is slower than that. Every
 * index must lie in [0, M), and res must overlap neither source nor index; the plain call checks both. Takes scratch
 * memory, a 64th of the bytes of res at most: 8 MiB where M and N are 2^28 and elements have 4 bytes. */
#pragma cf operation in(source[M], index[N]) out(res[N]) \
    scratch(starts[GATHER_RANDOM_IS_ORDERED(sizeof(T)) \
                       ? GATHER_RANDOM_RUNS(sizeof(T), GATHER_RANDOM_SHIFT(sizeof(T))) : 0]) \
    check(0 <= index[:] < M) uses(gather, gather_random_order, gather_random_fetch, gather_random_restore) \
    bytes(N * (2.0 * sizeof(T) + sizeof(I))) flops(0)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; \
    f64_i64: double, int64_t; i32_i32: int32_t, int32_t; i32_i64: int32_t, int64_t; i64_i32: int64_t, int32_t; \
    i64_i64: int64_t, int64_t)
template <typename T, typename I>
void gather_random(const T *__restrict__ source, const I *__restrict__ index, T *__restrict__ res, uint32_t *starts,
                   int64_t N, int64_t M);

/* ---- The launches ---- */

/* Sets each tile of res to its indices, in the order of their windows and, within one, in their own, and starts to
 * where those of each window are: from the low 16 bits to the high ones. There are 2^BITS windows at most. */
#pragma cf kernel internal blocks(GATHER_RANDOM_TILES(sizeof(U))) block(GATHER_RANDOM_THREADS(sizeof(U))) \
    host(grid(GATHER_RANDOM_TILES(sizeof(U)))) in(index[N]) \
    out(res[N], starts[GATHER_RANDOM_RUNS(sizeof(U), shift)]) check(0 <= index[:] < M) \
    check(0 < M <= 4294967296, 0 <= shift < 32, (M - 1) >> shift < 1 << BITS)
#pragma cf instances(u32_i32_few: uint32_t, int32_t, 6; u32_i64_few: uint32_t, int64_t, 6; \
    u64_i32_few: uint64_t, int32_t, 6; u64_i64_few: uint64_t, int64_t, 6; u32_i32_many: uint32_t, int32_t, 7; \
    u32_i64_many: uint32_t, int64_t, 7; u64_i32_many: uint64_t, int32_t, 7; u64_i64_many: uint64_t, int64_t, 7)
template <typename U, typename I, int BITS>
__global__ void __launch_bounds__(GATHER_RANDOM_THREADS(sizeof(U)), 1024 / GATHER_RANDOM_THREADS(sizeof(U)))
    gather_random_order(const I *__restrict__ index, U *__restrict__ res, uint32_t *__restrict__ starts, int64_t N,
                        int64_t M, int shift)
{
#ifdef __CUDA_ARCH__
    gather_random_order_tile<BITS>(index, res, starts, N, M, shift, blockIdx.x);
#else
    int64_t tile = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < GATHER_RANDOM_TILES(sizeof(U)))
        gather_random_order_tile<BITS>(index, res, starts, N, M, shift, tile);
#endif
}

/* Replaces the indices in res by the elements of source. Blocks begin in the order of their numbers: those of a window
 * after all of the one in front of it. */
#pragma cf kernel internal blocks(GATHER_RANDOM_GROUPS(sizeof(U)), GATHER_RANDOM_WINDOWS(shift)) \
    block(32 * GATHER_RANDOM_WARPS) \
    host(grid(GATHER_RANDOM_TILES(sizeof(U)))) in(source[M], starts[GATHER_RANDOM_RUNS(sizeof(U), shift)]) \
    inout(res[N]) check(0 < M <= 4294967296, 0 <= shift < 32)
#pragma cf instances(u32: uint32_t; u64: uint64_t)
template <typename U>
__global__ void __launch_bounds__(32 * GATHER_RANDOM_WARPS)
    gather_random_fetch(const U *__restrict__ source, const uint32_t *__restrict__ starts, U *__restrict__ res,
                        int64_t N, int64_t M, int shift)
{
#ifdef __CUDA_ARCH__
    const int64_t tile = (int64_t)blockIdx.x * GATHER_RANDOM_WARPS + threadIdx.x / 32, window = blockIdx.y;
    if (tile < GATHER_RANDOM_TILES(sizeof(U)))
        gather_random_fetch_run(source, starts[window * GATHER_RANDOM_TILES(sizeof(U)) + tile],
                                res + tile * GATHER_RANDOM_TILE(sizeof(U)));
#else
    int64_t tile = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < GATHER_RANDOM_TILES(sizeof(U)))
        for (int64_t window = 0; window < GATHER_RANDOM_WINDOWS(shift); window++)
            gather_random_fetch_run(source, starts[window * GATHER_RANDOM_TILES(sizeof(U)) + tile],
                                    res + tile * GATHER_RANDOM_TILE(sizeof(U)));
#endif
}

/* Puts each tile of res back from the order of windows into that of index. */
#pragma cf kernel internal blocks(GATHER_RANDOM_TILES(sizeof(U))) block(GATHER_RANDOM_THREADS(sizeof(U))) \
    host(grid(GATHER_RANDOM_TILES(sizeof(U)))) in(index[N]) inout(res[N]) check(0 <= index[:] < M) \
    check(0 < M <= 4294967296, 0 <= shift < 32, (M - 1) >> shift < 1 << BITS)
#pragma cf instances(u32_i32_few: uint32_t, int32_t, 6; u32_i64_few: uint32_t, int64_t, 6; \
    u64_i32_few: uint64_t, int32_t, 6; u64_i64_few: uint64_t, int64_t, 6; u32_i32_many: uint32_t, int32_t, 7; \
    u32_i64_many: uint32_t, int64_t, 7; u64_i32_many: uint64_t, int32_t, 7; u64_i64_many: uint64_t, int64_t, 7)
template <typename U, typename I, int BITS>
__global__ void __launch_bounds__(GATHER_RANDOM_THREADS(sizeof(U)), 1024 / GATHER_RANDOM_THREADS(sizeof(U)))
    gather_random_restore(const I *__restrict__ index, U *__restrict__ res, int64_t N, int64_t M, int shift)
{
#ifdef __CUDA_ARCH__
    gather_random_restore_tile<BITS>(index, res, N, shift, blockIdx.x);
#else
    int64_t tile = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < GATHER_RANDOM_TILES(sizeof(U)))
        gather_random_restore_tile<BITS>(index, res, N, shift, tile);
#endif
}
