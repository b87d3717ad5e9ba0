/* scan.cuh - prefix sums in one launch that reads and writes each element once, in an order that depends only on the
 * element type, the same on GPUs and on the CPU
 *
 * The array is divided into tiles of 384 threads times SCAN_ITEMS elements. A thread adds its elements from the first
 * to the last. The sums of 32 threads are scanned by distances of 1, 2, 4, 8 and 16, and the sums of the twelve warps
 * from the first to the last (cub::BlockScan with BLOCK_SCAN_WARP_SCANS). 32 tiles make a group, and 32 groups a
 * section. The sum before a tile has three parts: the earlier tiles of its group, the earlier groups of its section,
 * and the earlier sections. Tiles and groups are added as a tree over 32 places, with 0 for missing ones, and sections
 * from the first to the last:
 *
 *     (sections + tree of groups) + tree of tiles
 *
 * This is the decoupled look-back of Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back"
 * (2016), except for the order: theirs adds the sums that are ready; here every tile reads the same sums each time,
 * each at most two sums away from those of tiles. */
#ifndef KERNELS_SCAN_CUH
#define KERNELS_SCAN_CUH

#include <stdint.h>
#include <string.h>

#ifdef __CUDA_ARCH__
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#endif

#include "share.cuh"

#define SCAN_THREADS 384
#define SCAN_ITEMS(size) (120 / (size))
#define SCAN_TILE(size) (SCAN_THREADS * SCAN_ITEMS(size))
#define SCAN_TILES (n / SCAN_TILE(sizeof(T)) + (n % SCAN_TILE(sizeof(T)) > 0))

/* Number of words of scratch memory, all 0 at first: a state of SCAN_STATE words on the CPU, and four words for each
 * shared sum on a GPU, where blocks would hinder one another if sums lay closer together. */
#define SCAN_STATE 72
#define SCAN_WORDS 4
#define SCAN_WORK (SCAN_TILES > 1 ? SCAN_STATE + SCAN_WORDS * (SCAN_TILES + SCAN_TILES / 32 + SCAN_TILES / 1024) : 0)

#ifdef __CUDA_ARCH__

/* ---- On a GPU ----
 *
 * A block waits only for earlier blocks. Blocks start in the order of their numbers, as CUB's scan assumes, too. */

/* Returns the sum of 32 lanes, in all of them, as a tree: sums of neighbours, of pairs of neighbours, and so on. */
template <typename T> __device__ __forceinline__ T scan_tree(T value)
{
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
        value = share_plus(value, __shfl_xor_sync(0xffffffff, value, distance));
    return value;
}

/* Callback that returns the sum before a tile. The block's first warp calls it with the sum of the tile. */
template <typename T> struct scan_prefix {
    typedef share_words<T, SCAN_WORDS> words;
    words *of_tiles;

    __device__ __forceinline__ T operator()(T sum)
    {
        if (gridDim.x == 1)
            return 0;
        const unsigned int tiles = gridDim.x, tile = blockIdx.x, lane = threadIdx.x % 32;
        const unsigned int in_group = tile % 32, group = tile / 32, in_section = group % 32, section = group / 32;
        words *const of_groups = of_tiles + tiles, *const of_sections = of_groups + tiles / 32;
        if (lane == 0)
            share_store(of_tiles + tile, sum);

        T tiles_before = 0, groups_before = 0, sections_before = 0;
        bool has_tile = lane >= in_group, has_group = lane >= in_section, has_section = section == 0;
        while (!__all_sync(0xffffffff, has_tile))
            share_look(of_tiles + (tile - in_group + lane), has_tile, tiles_before);
        tiles_before = scan_tree(tiles_before);
        const T of_group = share_plus(tiles_before, sum);
        if (in_group == 31 && lane == 0)
            share_store(of_groups + group, of_group);
        while (!__all_sync(0xffffffff, has_group && has_section)) {
            share_look(of_groups + (group - in_section + lane), has_group, groups_before);
            share_look(of_sections + section - 1, has_section, sections_before);
        }
        groups_before = share_plus(sections_before, scan_tree(groups_before));
        if (in_group == 31 && in_section == 31 && lane == 0)
            share_store(of_sections + section, share_plus(groups_before, of_group));
        return share_plus(groups_before, tiles_before);
    }
};

template <typename T> struct scan_add {
    __device__ __forceinline__ T operator()(const T &a, const T &b) const
    {
        return share_plus(a, b);
    }
};

template <bool is_inclusive, typename T>
__device__ __forceinline__ void scan_grid(int64_t n, const T *x, T *y, uint64_t *work)
{
    constexpr int items = SCAN_ITEMS(sizeof(T)), tile = SCAN_TILE(sizeof(T));
    typedef cub::BlockLoad<T, SCAN_THREADS, items, cub::BLOCK_LOAD_WARP_TRANSPOSE> block_load;
    typedef cub::BlockStore<T, SCAN_THREADS, items, cub::BLOCK_STORE_WARP_TRANSPOSE> block_store;
    typedef cub::BlockScan<T, SCAN_THREADS, cub::BLOCK_SCAN_WARP_SCANS> block_scan;
    __shared__ union {
        typename block_load::TempStorage load;
        typename block_store::TempStorage store;
        typename block_scan::TempStorage scan;
    } memory;
    const int64_t begin = (int64_t)blockIdx.x * tile;
    const int count = n - begin < tile ? (int)(n - begin) : tile;

    scan_prefix<T> prefix = {reinterpret_cast<share_words<T, SCAN_WORDS> *>(work)};
    T elements[items];
    if (count == tile)
        block_load(memory.load).Load(x + begin, elements);
    else
        block_load(memory.load).Load(x + begin, elements, count, (T)0);
    T sum = elements[0];
#pragma unroll
    for (int i = 1; i < items; i++)
        sum = share_plus(sum, elements[i]);
    __syncthreads();
    T before;
    block_scan(memory.scan).ExclusiveScan(sum, before, scan_add<T>(), prefix);
#pragma unroll
    for (int i = 0; i < items; i++) {
        const T element = elements[i];
        if (is_inclusive)
            elements[i] = before = share_plus(before, element);
        else {
            elements[i] = before;
            before = share_plus(before, element);
        }
    }
    __syncthreads();
    if (count == tile)
        block_store(memory.store).Store(y + begin, elements);
    else
        block_store(memory.store).Store(y + begin, elements, count);
}

#else

/* ---- On the CPU: a thread for each tile, in the same order ----
 *
 * Threads take the tiles in order, so that a thread waits only for tiles on which others work already. They take turns
 * to find the sum before a tile, which takes little time compared with the tile itself. */

/* State of the scan; all bytes are 0 before the first tile. */
template <typename T> struct scan_state {
    uint64_t begun;  /* number of tiles taken; atomic */
    uint64_t turn;   /* the tile whose turn it is; atomic */
    T sections;      /* sum of the sections before the tile */
    T of_groups[32]; /* sums of the earlier groups of its section */
    T of_tiles[32];  /* sums of the earlier tiles of its group; others are 0 */
};

template <typename T> __device__ __forceinline__ T scan_tree(const T (&values)[32])
{
    T sums[32];
    memcpy(sums, values, sizeof sums);
    for (int count = 16; count > 0; count /= 2)
        for (int i = 0; i < count; i++)
            sums[i] = share_plus(sums[2 * i], sums[2 * i + 1]);
    return sums[0];
}

/* Waits for a tile's turn, returns the sum before the tile, and adds that of the tile. */
template <typename T> __device__ __forceinline__ T scan_turn(scan_state<T> *state, int64_t tile, T sum)
{
    share_await(&state->turn, (uint64_t)tile);
    const T tiles_before = scan_tree(state->of_tiles);
    const T groups_before = share_plus(state->sections, scan_tree(state->of_groups));
    const T of_group = share_plus(tiles_before, sum);
    state->of_tiles[tile % 32] = sum;
    if (tile % 32 == 31) {
        memset(state->of_tiles, 0, sizeof state->of_tiles);
        state->of_groups[tile / 32 % 32] = of_group;
    }
    if (tile % 1024 == 1023) {
        memset(state->of_groups, 0, sizeof state->of_groups);
        state->sections = share_plus(groups_before, of_group);
    }
    __atomic_store_n(&state->turn, (uint64_t)tile + 1, __ATOMIC_RELEASE);
    return share_plus(groups_before, tiles_before);
}

/* Number of threads whose elements are added at the same time, so that additions do not wait for one another. The sums
 * are scalars, since gathering a vector from eight places for each step takes longer. */
#define SCAN_ABREAST 8
#define SCAN_EACH(what) what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7)

template <typename T> __device__ __forceinline__ void scan_sums(const T *x, int count, T *sums)
{
    constexpr int items = SCAN_ITEMS(sizeof(T));
    const int whole = count / (SCAN_ABREAST * items) * SCAN_ABREAST;
    for (int t = 0; t < whole; t += SCAN_ABREAST, x += SCAN_ABREAST * items) {
#define SCAN_BEGIN(k) T sum##k = 0;
#define SCAN_STEP(k) sum##k = share_plus(sum##k, x[k * items + i]);
#define SCAN_END(k) sums[t + k] = sum##k;
        SCAN_EACH(SCAN_BEGIN)
        for (int i = 0; i < items; i++) {
            SCAN_EACH(SCAN_STEP)
        }
        SCAN_EACH(SCAN_END)
#undef SCAN_BEGIN
#undef SCAN_STEP
#undef SCAN_END
    }
    count -= whole * items;
    for (int t = whole; t < SCAN_THREADS; t++) {
        const int first = (t - whole) * items;
        sums[t] = 0;
        for (int i = first; i < first + items && i < count; i++)
            sums[t] = share_plus(sums[t], x[i]);
    }
}

/* Replaces each thread's sum by the sum before it in the tile. Returns the sum of the tile. */
template <typename T> __device__ __forceinline__ T scan_warps(T *sums)
{
    T total = 0;
    for (int warp = 0; warp < SCAN_THREADS; warp += 32) {
        T here[32], before[32];
        memcpy(here, sums + warp, sizeof here);
        for (int distance = 1; distance < 32; distance *= 2) {
            memcpy(before, here, sizeof before);
            for (int lane = distance; lane < 32; lane++)
                here[lane] = share_plus(before[lane - distance], before[lane]);
        }
        sums[warp] = total;
        for (int lane = 1; lane < 32; lane++)
            sums[warp + lane] = warp ? share_plus(total, here[lane - 1]) : here[lane - 1];
        total = warp ? share_plus(total, here[31]) : here[31];
    }
    return total;
}

template <bool is_inclusive, typename T> __device__ __forceinline__ T scan_one(T before, T element, T *y)
{
    const T after = share_plus(before, element);
    *y = is_inclusive ? after : before;
    return after;
}

template <bool is_inclusive, typename T>
__device__ __forceinline__ void scan_elements(const T *x, T *y, int count, const T *before, T prefix)
{
    constexpr int items = SCAN_ITEMS(sizeof(T));
    const int whole = count / (SCAN_ABREAST * items) * SCAN_ABREAST;
    for (int t = 0; t < whole; t += SCAN_ABREAST, x += SCAN_ABREAST * items, y += SCAN_ABREAST * items) {
#define SCAN_BEGIN(k) T sum##k = share_plus(prefix, before[t + k]);
#define SCAN_STEP(k) sum##k = scan_one<is_inclusive>(sum##k, x[k * items + i], y + k * items + i);
        SCAN_EACH(SCAN_BEGIN)
        for (int i = 0; i < items; i++) {
            SCAN_EACH(SCAN_STEP)
        }
#undef SCAN_BEGIN
#undef SCAN_STEP
    }
    count -= whole * items;
    for (int t = whole; t < SCAN_THREADS; t++) {
        const int first = (t - whole) * items;
        T sum = share_plus(prefix, before[t]);
        for (int i = first; i < first + items && i < count; i++)
            sum = scan_one<is_inclusive>(sum, x[i], y + i);
    }
}

template <bool is_inclusive, typename T>
__device__ __forceinline__ void scan_next(int64_t n, const T *x, T *y, uint64_t *work, int64_t tiles)
{
    constexpr int tile = SCAN_TILE(sizeof(T));
    static_assert(sizeof(scan_state<T>) <= SCAN_STATE * sizeof *work, "");
    scan_state<T> *state = reinterpret_cast<scan_state<T> *>(work);
    const int64_t number = tiles > 1 ? (int64_t)__atomic_fetch_add(&state->begun, 1, __ATOMIC_RELAXED) : 0;
    const int64_t begin = number * tile;
    const int count = n - begin < tile ? (int)(n - begin) : tile;
    T sums[SCAN_THREADS];
    scan_sums(x + begin, count, sums);
    const T sum = scan_warps(sums);
    const T prefix = tiles > 1 ? scan_turn(state, number, sum) : (T)0;
    scan_elements<is_inclusive>(x + begin, y + begin, count, sums, prefix);
}

#endif
#endif
