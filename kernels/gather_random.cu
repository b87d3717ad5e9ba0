/* gather_random - res[i] = source[index[i]] for indices in no order and a source larger than any cache. A plain gather
 * would read a 32-byte sector from memory for each element. Here the source is divided into windows that fit the L2
 * cache, and elements are fetched window by window. The first launch sorts each tile of indices by window, in res
 * itself; the second replaces indices by elements; the third restores the tile's order. The third launch computes the
 * order again, which takes hardly longer than storing it and needs no memory. */
#include <stdint.h>

#include "gather_random.cuh"

/* Gathers N elements of source, which has M: res[i] = source[index[i]], as cf_gather does, for indices in no order.
 * A GPU with an L2 cache of 32 MiB or more goes through source window by window if source has more than 64 MiB, more
 * than 1.25 times that cache and at most 4 GiB, and N is at least 2^22 and at least M / 8, or M / 2 for elements of
 * 8 bytes. Otherwise, and on the CPU, it gathers in one launch. If indices are in order, it is slower than
 * cf_gather. Every index must lie in [0, M), and res must overlap neither source nor index; the plain call checks
 * both. Takes scratch memory of at most a 64th of the bytes of res: 8 MiB if M and N are 2^28 and elements have 4
 * bytes. */
#pragma cf operation in(source[M], index[N]) out(res[N]) \
    scratch(starts[GATHER_RANDOM_IS_ORDERED(sizeof(T)) \
                       ? GATHER_RANDOM_RUNS(sizeof(T), GATHER_RANDOM_SHIFT(sizeof(T))) : 0], \
            next[GATHER_RANDOM_IS_ORDERED(sizeof(T)) ? 1 : 0]) \
    check(0 <= index[:] < M) \
    uses(gather, gather_random_order, gather_random_fetch, gather_random_restore) \
    bytes(N * (2.0 * sizeof(T) + sizeof(I))) flops(0)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; \
    f64_i64: double, int64_t; i32_i32: int32_t, int32_t; i32_i64: int32_t, int64_t; i64_i32: int64_t, int32_t; \
    i64_i64: int64_t, int64_t)
template <typename T, typename I>
void gather_random(const T *__restrict__ source, const I *__restrict__ index, T *__restrict__ res, int64_t N, int64_t M,
                   uint32_t *starts, uint32_t *next);

/* ---- The launches, whose blocks loop ---- */

/* Sets each tile of res to its indices in the order of their windows, stable within a window, and starts to the
 * begin (low 16 bits) and end (high 16 bits) of each window. There are at most 2^BITS windows. Sets *next to 0. */
#pragma cf kernel internal blocks(min(blocks, GATHER_RANDOM_TILES(sizeof(U)))) block(GATHER_RANDOM_THREADS(sizeof(U))) \
    host(grid(GATHER_RANDOM_TILES(sizeof(U)))) in(index[N]) \
    inout(res[N], starts[GATHER_RANDOM_RUNS(sizeof(U), shift)], next[1]) check(0 <= index[:] < M) \
    check(0 < M <= 4294967296, 0 <= shift < 32, (M - 1) >> shift < 1 << BITS, 1 <= blocks)
#pragma cf instances(u32_i32_few: uint32_t, int32_t, 6; u32_i64_few: uint32_t, int64_t, 6; \
    u64_i32_few: uint64_t, int32_t, 6; u64_i64_few: uint64_t, int64_t, 6; u32_i32_many: uint32_t, int32_t, 7; \
    u32_i64_many: uint32_t, int64_t, 7; u64_i32_many: uint64_t, int32_t, 7; u64_i64_many: uint64_t, int64_t, 7)
template <typename U, typename I, int BITS>
__global__ void __launch_bounds__(GATHER_RANDOM_THREADS(sizeof(U)), 1024 / GATHER_RANDOM_THREADS(sizeof(U)))
    gather_random_order(const I *__restrict__ index, U *__restrict__ res, uint32_t *__restrict__ starts,
                        uint32_t *__restrict__ next, int64_t N, int64_t M, int shift, int32_t blocks)
{
#ifdef __CUDA_ARCH__
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *next = 0;
    for (int64_t tile = blockIdx.x; tile < GATHER_RANDOM_TILES(sizeof(U)); tile += blocks) {
        gather_random_order_tile<BITS>(index, res, starts, N, M, shift, tile);
        __syncthreads();
    }
#else
    int64_t tile = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < GATHER_RANDOM_TILES(sizeof(U)))
        gather_random_order_tile<BITS>(index, res, starts, N, M, shift, tile);
    if (tile == 0)
        *next = 0;
#endif
}

/* Replaces the indices in res by the elements of source, window by window. Blocks take the groups of a window one by
 * one from *next. With fixed groups, blocks would soon be several windows apart, more than the L2 cache holds. */
#pragma cf kernel internal blocks(min(blocks, GATHER_RANDOM_GROUPS(sizeof(U)) * GATHER_RANDOM_WINDOWS(shift))) \
    block(32 * GATHER_RANDOM_WARPS) host(grid(GATHER_RANDOM_TILES(sizeof(U)))) \
    in(source[M], starts[GATHER_RANDOM_RUNS(sizeof(U), shift)]) inout(res[N], next[1]) \
    check(0 < M <= 4294967296, 0 <= shift < 32, 1 <= blocks, \
          GATHER_RANDOM_GROUPS(sizeof(U)) * GATHER_RANDOM_WINDOWS(shift) + blocks <= 4294967295)
#pragma cf instances(u32: uint32_t; u64: uint64_t)
template <typename U>
__global__ void __launch_bounds__(32 * GATHER_RANDOM_WARPS)
    gather_random_fetch(const U *__restrict__ source, const uint32_t *__restrict__ starts, U *__restrict__ res,
                        uint32_t *__restrict__ next, int64_t N, int64_t M, int shift, int32_t blocks)
{
#ifdef __CUDA_ARCH__
    const uint32_t groups = (uint32_t)GATHER_RANDOM_GROUPS(sizeof(U)), windows = (uint32_t)GATHER_RANDOM_WINDOWS(shift);
    __shared__ uint32_t taken[2]; /* numbers of the current group and of the next, which is taken in advance */
    if (threadIdx.x == 0)
        taken[0] = atomicAdd(next, 1);
    __syncthreads();
    for (int turn = 0; taken[turn] < groups * windows; turn ^= 1) {
        const uint32_t window = taken[turn] / groups, group = taken[turn] % groups;
        const int64_t tile = (int64_t)group * GATHER_RANDOM_WARPS + threadIdx.x / 32;
        if (threadIdx.x == 0)
            taken[turn ^ 1] = atomicAdd(next, 1);
        if (tile < GATHER_RANDOM_TILES(sizeof(U)))
            gather_random_fetch_run(source, starts[window * GATHER_RANDOM_TILES(sizeof(U)) + tile],
                                    res + tile * GATHER_RANDOM_TILE(sizeof(U)));
        __syncthreads();
    }
#else
    int64_t tile = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < GATHER_RANDOM_TILES(sizeof(U)))
        for (int64_t window = 0; window < GATHER_RANDOM_WINDOWS(shift); window++)
            gather_random_fetch_run(source, starts[window * GATHER_RANDOM_TILES(sizeof(U)) + tile],
                                    res + tile * GATHER_RANDOM_TILE(sizeof(U)));
#endif
}

/* Puts each tile of res back from the order of windows into the order of index. */
#pragma cf kernel internal blocks(min(blocks, GATHER_RANDOM_TILES(sizeof(U)))) block(GATHER_RANDOM_THREADS(sizeof(U))) \
    host(grid(GATHER_RANDOM_TILES(sizeof(U)))) in(index[N]) inout(res[N]) check(0 <= index[:] < M) \
    check(0 < M <= 4294967296, 0 <= shift < 32, (M - 1) >> shift < 1 << BITS, 1 <= blocks)
#pragma cf instances(u32_i32_few: uint32_t, int32_t, 6; u32_i64_few: uint32_t, int64_t, 6; \
    u64_i32_few: uint64_t, int32_t, 6; u64_i64_few: uint64_t, int64_t, 6; u32_i32_many: uint32_t, int32_t, 7; \
    u32_i64_many: uint32_t, int64_t, 7; u64_i32_many: uint64_t, int32_t, 7; u64_i64_many: uint64_t, int64_t, 7)
template <typename U, typename I, int BITS>
__global__ void __launch_bounds__(GATHER_RANDOM_THREADS(sizeof(U)), 1024 / GATHER_RANDOM_THREADS(sizeof(U)))
    gather_random_restore(const I *__restrict__ index, U *__restrict__ res, int64_t N, int64_t M, int shift,
                          int32_t blocks)
{
#ifdef __CUDA_ARCH__
    for (int64_t tile = blockIdx.x; tile < GATHER_RANDOM_TILES(sizeof(U)); tile += blocks) {
        gather_random_restore_tile<BITS>(index, res, N, shift, tile);
        __syncthreads();
    }
#else
    int64_t tile = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < GATHER_RANDOM_TILES(sizeof(U)))
        gather_random_restore_tile<BITS>(index, res, N, shift, tile);
#endif
}
