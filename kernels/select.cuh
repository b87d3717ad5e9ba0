/* select.cuh - copies the flagged elements of a sequence, in order, in one launch, which on a GPU reads each flag once
 * and an element only if its flag is set
 *
 * The sequence is divided into tiles. A tile publishes the number of its set flags before it reads its elements. Its
 * results begin after those of all earlier tiles, whose numbers it adds backwards until it meets a tile that has
 * published the sum of all tiles up to itself. This is the decoupled look-back of Merrill and Garland, "Single-pass
 * Parallel Prefix Scan with Decoupled Look-back" (2016). The sums are integers, so the order in which they become ready
 * does not matter. */
#ifndef KERNELS_SELECT_CUH
#define KERNELS_SELECT_CUH

#include <stdint.h>
#include <string.h>

#ifdef __CUDA_ARCH__
#include <cub/block/block_scan.cuh>
#endif

#include "share.cuh"

/* A warp takes SELECT_ROWS rows of 32 neighbours. */
#define SELECT_THREADS 256
#define SELECT_ROWS 16
#define SELECT_TILE (SELECT_THREADS * SELECT_ROWS)
#define SELECT_TILES (n / SELECT_TILE + (n % SELECT_TILE > 0))

/* A CPU thread takes a chunk, whose flags stay in its cache until they are read again. */
#define SELECT_CHUNK 32768
#define SELECT_CHUNKS max(1, n / SELECT_CHUNK + (n % SELECT_CHUNK > 0))

/* Number of blocks; there is at least one, which sets the count of an empty sequence. */
#define SELECT_BLOCKS max(1, SELECT_TILES)

/* Number of words of scratch memory, all 0 at first: on a GPU one for each tile, on the CPU a state, which fits into
 * the words of one chunk. */
#define SELECT_WORK (SELECT_TILES > 1 ? SELECT_TILES : 0)

/* ---- Sources ----
 *
 * A source tells the elements to copy. `at` returns what is kept for position i of a part of the sequence, and `result`
 * returns the result for what was kept. */

template <typename T> struct select_elements {
    typedef T kept, result_type;
    const T *__restrict__ x; /* first element of the part */

    __device__ __forceinline__ select_elements part(int64_t begin) const
    {
        return {x + begin};
    }
    __device__ __forceinline__ T at(int i) const
    {
        return x[i];
    }
#ifndef __CUDA_ARCH__
    __device__ __forceinline__ void prefetch(int i) const /* i may be beyond the end */
    {
        __builtin_prefetch(reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(x) + (size_t)i * sizeof(T)));
    }
#endif
    __device__ __forceinline__ T result(T element) const
    {
        return element;
    }
};

template <typename I> struct select_indices {
    typedef uint16_t kept;
    typedef I result_type;
    int64_t begin; /* first index of the part */

    __device__ __forceinline__ select_indices part(int64_t offset) const
    {
        return {begin + offset};
    }
    __device__ __forceinline__ uint16_t at(int i) const
    {
        return (uint16_t)i;
    }
#ifndef __CUDA_ARCH__
    __device__ __forceinline__ void prefetch(int) const
    {
    }
#endif
    __device__ __forceinline__ I result(uint16_t i) const
    {
        return (I)(begin + i);
    }
};
static_assert(SELECT_TILE <= 65536 && SELECT_CHUNK <= 65536, "places in a part take 16 bits");

#ifdef __CUDA_ARCH__

/* ---- On a GPU ----
 *
 * The word of a tile is 0 at first; then it is the number of the tile's selected elements with the bit SELECT_OWN; in
 * the end it is the sum for all tiles up to this one with SELECT_ALL. A word is written or read by one access, so that
 * the order of accesses does not matter. A block waits only for earlier blocks. Blocks start in the order of their
 * numbers, as CUB assumes, too. */

#define SELECT_OWN (UINT64_C(1) << 62)
#define SELECT_ALL (UINT64_C(1) << 63)
#define SELECT_WINDOWS 4 /* number of windows of 32 tiles that are read together; about as many tiles run at once */

/* Returns the word of a tile. For a tile before the first, it says that nothing is selected. */
__device__ __forceinline__ uint64_t select_look(const uint64_t *work, int64_t tile)
{
    return tile >= 0 ? share_load_word(work + tile) : SELECT_ALL;
}

/* Reads a window of 32 tiles; lane 0 has the last tile, lane 1 the one before it, and so on. Waits for the tiles from
 * the last back to the first that has SELECT_ALL, and adds their numbers to the lanes' `before`. Returns true if a tile
 * had SELECT_ALL. */
__device__ __forceinline__ bool select_window(const uint64_t *work, int64_t tile, uint64_t word, uint64_t &before)
{
    uint32_t sums, counted;
    for (;;) {
        sums = __ballot_sync(0xffffffff, word >= SELECT_ALL);
        counted = sums ^ (sums - 1); /* lanes up to the first with SELECT_ALL; all lanes if there is none */
        if (__all_sync(0xffffffff, word || !(counted >> threadIdx.x % 32 & 1)))
            break;
        if (!word)
            word = select_look(work, tile);
    }
    if (counted >> threadIdx.x % 32 & 1)
        before += word & (SELECT_OWN - 1);
    return sums;
}

/* Returns the number of elements selected before a tile. All lanes of a warp call it. */
__device__ __forceinline__ uint64_t select_before(const uint64_t *work, int64_t tile)
{
    uint64_t before = 0;
    for (bool is_done = false; !is_done;) {
        uint64_t words[SELECT_WINDOWS];
#pragma unroll
        for (int w = 0; w < SELECT_WINDOWS; w++)
            words[w] = select_look(work, tile - 1 - 32 * w - (int)threadIdx.x % 32);
#pragma unroll
        for (int w = 0; w < SELECT_WINDOWS; w++, tile -= 32)
            if (!is_done)
                is_done = select_window(work, tile - 1 - (int)threadIdx.x % 32, words[w], before);
    }
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
        before += __shfl_xor_sync(0xffffffff, before, distance);
    return before;
}

template <typename Source>
__device__ __forceinline__ void select_grid(int64_t n, const Source &all, const uint8_t *__restrict__ flag,
                                            typename Source::result_type *__restrict__ y, int64_t *__restrict__ count,
                                            uint64_t *work)
{
    typedef typename Source::kept kept;
    typedef cub::BlockScan<int, SELECT_THREADS, cub::BLOCK_SCAN_WARP_SCANS> block_scan;
    __shared__ typename block_scan::TempStorage scan;
    __shared__ kept staged[SELECT_TILE];
    __shared__ uint64_t in_front;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = warp * SELECT_ROWS * 32 + lane;
    const int64_t tile = blockIdx.x, begin = tile * SELECT_TILE;
    const int size = n - begin < SELECT_TILE ? (int)(n - begin) : SELECT_TILE;
    const Source source = all.part(begin);
    flag += begin;

    uint8_t flags[SELECT_ROWS];
#pragma unroll
    for (int k = 0; k < SELECT_ROWS; k++)
        flags[k] = first + 32 * k < size ? flag[first + 32 * k] : 0;
    uint32_t rows[SELECT_ROWS], own = 0; /* flags of each row; in lane k, `own` holds those of row k */
#pragma unroll
    for (int k = 0; k < SELECT_ROWS; k++) {
        rows[k] = __ballot_sync(0xffffffff, flags[k] != 0);
        own = lane == k ? rows[k] : own;
    }
    int row_begin, total;
    block_scan(scan).ExclusiveSum(__popc(own), row_begin, total);
    if (gridDim.x > 1 && threadIdx.x == 0)
        share_store_word(work + tile, (tile ? SELECT_OWN : SELECT_ALL) | (uint64_t)total);

    /* The elements are loaded while the first warp reads other tiles' words. */
    kept elements[SELECT_ROWS];
#pragma unroll
    for (int k = 0; k < SELECT_ROWS; k++)
        if (rows[k] >> lane & 1)
            elements[k] = source.at(first + 32 * k);
    if (warp == 0) {
        const uint64_t before = tile ? select_before(work, tile) : 0;
        if (lane == 0) {
            in_front = before;
            if (tile && tile < gridDim.x - 1)
                share_store_word(work + tile, SELECT_ALL | (before + (uint64_t)total));
            if (tile == gridDim.x - 1)
                *count = (int64_t)(before + (uint64_t)total);
        }
    }

    /* The results of a warp are neighbours. They are collected in shared memory first, so that they are written as
     * whole sectors. */
    const int warp_begin = __shfl_sync(0xffffffff, row_begin, 0);
    const int selected = __shfl_sync(0xffffffff, row_begin + __popc(own), SELECT_ROWS - 1) - warp_begin;
    kept *const of_warp = staged + warp * SELECT_ROWS * 32;
#pragma unroll
    for (int k = 0; k < SELECT_ROWS; k++) {
        const int at = __shfl_sync(0xffffffff, row_begin, k) - warp_begin + __popc(rows[k] & ((1u << lane) - 1));
        if (rows[k] >> lane & 1)
            of_warp[at] = elements[k];
    }
    __syncthreads();
    y += in_front + warp_begin;
    for (int i = lane; i < selected; i += 32)
        y[i] = source.result(of_warp[i]);
}

#else

/* ---- On the CPU: a thread for each chunk ----
 *
 * Threads take the chunks in order, so that a thread waits only for chunks on which others work already. Each thread
 * counts its flags and adds the number when its turn comes; then it copies while the next threads take their turns. */

/* State of the selection; all bytes are 0 before the first chunk. */
struct select_state {
    uint64_t begun;   /* number of chunks taken; atomic */
    uint64_t turn;    /* the chunk whose turn it is; atomic */
    int64_t in_front; /* number of elements selected before that chunk */
};
static_assert(sizeof(select_state) / sizeof(uint64_t) <= SELECT_CHUNK / SELECT_TILE,
              "the state fits into the words of tiles");

/* Waits for a chunk's turn, returns the number of elements selected before it, and adds the chunk's number. */
__device__ __forceinline__ int64_t select_turn(select_state *state, int64_t chunk, int64_t selected)
{
    share_await(&state->turn, (uint64_t)chunk);
    const int64_t in_front = state->in_front;
    state->in_front += selected;
    __atomic_store_n(&state->turn, (uint64_t)chunk + 1, __ATOMIC_RELEASE);
    return in_front;
}

/* Counts the flags that are set. They are added as bytes, 16 or 32 with one instruction, in groups that cannot
 * overflow. */
__device__ __attribute__((noinline)) inline int select_count(const uint8_t *flag, int size)
{
    int total = 0, i = 0;
    for (; i + 128 <= size; i += 128) {
        uint8_t sum = 0;
        for (int k = 0; k < 128; k++)
            sum = (uint8_t)(sum + (flag[i + k] != 0));
        total += sum;
    }
    for (; i < size; i++)
        total += flag[i] != 0;
    return total;
}

/* True if none of eight bytes is 0. */
__device__ __forceinline__ bool select_are_all(uint64_t eight)
{
    return !((eight - UINT64_C(0x0101010101010101)) & ~eight & UINT64_C(0x8080808080808080));
}

/* Distance of prefetches, which help if few elements are selected, since the processor then recognises no sequence in
 * the reads. */
#define SELECT_AHEAD 512

/* Copies a chunk's elements without a branch for each, which could not be predicted. An element that is not selected is
 * written, too, and then overwritten. As long as eight more are selected, all writes stay within the chunk's own
 * results. */
template <typename Source>
__device__ __forceinline__ void select_copy(const Source &source, const uint8_t *flag,
                                            typename Source::result_type *__restrict__ y, int size, int selected)
{
    int at = 0, i = 0;
    uint64_t eight = 0;
    for (; at + 8 <= selected; i += 8) {
        memcpy(&eight, flag + i, sizeof eight);
        source.prefetch(i + SELECT_AHEAD);
        if (!eight)
            continue;
        if (select_are_all(eight)) {
            for (int k = 0; k < 8; k++)
                y[at + k] = source.result(source.at(i + k));
            at += 8;
            continue;
        }
        for (int k = 0; k < 8; k++) {
            y[at] = source.result(source.at(i + k));
            at += flag[i + k] != 0;
        }
    }
    while (at < selected) {
        if (i + 8 <= size)
            memcpy(&eight, flag + i, sizeof eight);
        if (i + 8 <= size && !eight) {
            i += 8;
        } else {
            if (flag[i])
                y[at++] = source.result(source.at(i));
            i++;
        }
    }
}

template <typename Source>
__device__ __forceinline__ void select_next(int64_t n, const Source &all, const uint8_t *flag,
                                            typename Source::result_type *y, int64_t *count, uint64_t *work)
{
    select_state *state = reinterpret_cast<select_state *>(work);
    const int64_t chunks = n > 0 ? (n - 1) / SELECT_CHUNK + 1 : 1;
    const int64_t chunk = chunks > 1 ? (int64_t)__atomic_fetch_add(&state->begun, 1, __ATOMIC_RELAXED) : 0;
    const int64_t begin = chunk * SELECT_CHUNK;
    const int size = n - begin < SELECT_CHUNK ? (int)(n - begin) : SELECT_CHUNK;
    const int selected = select_count(flag + begin, size);
    const int64_t in_front = chunks > 1 ? select_turn(state, chunk, selected) : 0;
    if (chunk == chunks - 1)
        *count = in_front + selected;
    if (selected > 0)
        select_copy(all.part(begin), flag + begin, y + in_front, size, selected);
}

#endif
#endif
