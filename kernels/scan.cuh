/* scan.cuh - prefix sums in one launch that reads and writes each element once, in an order that depends only on the
 * element type, the same on GPUs and on the CPU
 *
 * The array is divided into tiles of 384 threads times SCAN_ITEMS elements. 32 threads make a warp, and 32 tiles a group.
 * A sum before or up to an element has five terms, which are added from the last to the first:
 *
 *     groups + (tiles + (warps + (threads + elements)))
 *
 * Each term is the sum of the parts that come earlier within the next larger part, added from the first to the last. So
 * the sum up to a part's last element is, bit for bit, the sum before the next part, on each level: a sum changes only
 * where an element is not 0, and sums of elements that are not negative never fall.
 *
 * A tile finds its terms as in the decoupled look-back of Merrill and Garland, "Single-pass Parallel Prefix Scan with
 * Decoupled Look-back" (2016), except for the order: theirs adds the sums that are ready; here every tile reads the same
 * sums each time: of the tiles of its group, of the groups of its section of 32 groups, and of all before the section. */
#ifndef KERNELS_SCAN_CUH
#define KERNELS_SCAN_CUH

#include <stdint.h>
#include <string.h>

#ifdef __CUDA_ARCH__
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#endif

#include "share.cuh"

#define SCAN_THREADS 384
#define SCAN_ITEMS(size) (120 / (size))
#define SCAN_TILE(size) (SCAN_THREADS * SCAN_ITEMS(size))
#define SCAN_TILES (n / SCAN_TILE(sizeof(T)) + (n % SCAN_TILE(sizeof(T)) > 0))

/* Number of words of scratch memory, all 0 at first: a state of SCAN_STATE words on the CPU, and four words for each
 * shared sum on a GPU, where blocks would hinder one another if sums lay closer together. */
#define SCAN_STATE 4
#define SCAN_WORDS 4
#define SCAN_WORK (SCAN_TILES > 1 ? SCAN_STATE + SCAN_WORDS * (SCAN_TILES + SCAN_TILES / 32 + SCAN_TILES / 1024) : 0)

/* The sums before a tile: of the earlier groups, and of the earlier tiles of its group. */
template <typename T> struct scan_before {
    T groups, tiles;
};

/* Adds the sums before a part of a tile to a sum within the part. */
template <typename T>
__device__ __forceinline__ T scan_plus(const scan_before<T> &tile, T warps, T threads, T elements)
{
    return share_plus(tile.groups, share_plus(tile.tiles, share_plus(warps, share_plus(threads, elements))));
}

/* Adds an element to the sum before it, and returns the one of both sums that the scan asks for. */
template <bool is_inclusive, typename T> __device__ __forceinline__ T scan_one(T &sum, T element)
{
    const T before = sum;
    sum = share_plus(before, element);
    return is_inclusive ? sum : before;
}

#ifdef __CUDA_ARCH__

/* ---- On a GPU ----
 *
 * A block waits only for earlier blocks. Blocks start in the order of their numbers, as CUB's scan assumes, too. */

/* Returns the sum of the values before `place`, and sets `total` to the sum of all. */
template <int count, typename T> __device__ __forceinline__ T scan_values(const T *values, int place, T &total)
{
    T before = 0;
    total = 0;
#pragma unroll 4
    for (int i = 0; i < count; i++) {
        if (i == place)
            before = total;
        total = share_plus(total, values[i]);
    }
    return before;
}

/* Adds the values of 32 lanes to a sum, and returns the result in all lanes. */
template <typename T> __device__ __forceinline__ T scan_lanes(T sum, T value)
{
#pragma unroll 8
    for (int lane = 0; lane < 32; lane++)
        sum = share_plus(sum, __shfl_sync(0xffffffff, value, lane));
    return sum;
}

/* Shares the sum of the block's tile, and returns the sums before it. The block's first warp calls it. */
template <typename T>
__device__ __forceinline__ scan_before<T> scan_look_back(share_words<T, SCAN_WORDS> *of_tiles, T sum)
{
    const unsigned int tiles = gridDim.x, tile = blockIdx.x, lane = threadIdx.x % 32;
    const unsigned int in_group = tile % 32, group = tile / 32, in_section = group % 32, section = group / 32;
    share_words<T, SCAN_WORDS> *const of_groups = of_tiles + tiles, *const of_sections = of_groups + tiles / 32;
    scan_before<T> before = {0, 0};
    if (tiles == 1)
        return before;
    if (lane == 0)
        share_store(of_tiles + tile, sum);

    T of_tile = 0, of_earlier = 0;
    bool has_tile = lane >= in_group, has_group = lane >= in_section, has_section = section == 0;
    while (!__all_sync(0xffffffff, has_tile))
        share_look(of_tiles + (tile - in_group + lane), has_tile, of_tile);
    before.tiles = scan_lanes((T)0, of_tile);
    const T of_group = share_plus(before.tiles, sum);
    if (in_group == 31 && lane == 0)
        share_store(of_groups + group, of_group);
    while (!__all_sync(0xffffffff, has_group && has_section)) {
        share_look(of_groups + (group - in_section + lane), has_group, of_earlier);
        share_look(of_sections + section - 1, has_section, before.groups);
    }
    before.groups = scan_lanes(before.groups, of_earlier);
    if (in_group == 31 && in_section == 31 && lane == 0)
        share_store(of_sections + section, share_plus(before.groups, of_group));
    return before;
}

template <bool is_inclusive, typename T>
__device__ __forceinline__ void scan_grid(int64_t n, const T *x, T *y, uint64_t *work)
{
    constexpr int items = SCAN_ITEMS(sizeof(T)), tile = SCAN_TILE(sizeof(T)), warps = SCAN_THREADS / 32;
    typedef cub::BlockLoad<T, SCAN_THREADS, items, cub::BLOCK_LOAD_WARP_TRANSPOSE> block_load;
    typedef cub::BlockStore<T, SCAN_THREADS, items, cub::BLOCK_STORE_WARP_TRANSPOSE> block_store;
    __shared__ union {
        typename block_load::TempStorage load;
        typename block_store::TempStorage store;
        alignas(16) T of_threads[SCAN_THREADS];
    } memory;
    __shared__ alignas(16) T of_warps[warps];
    __shared__ scan_before<T> of_tile;
    const int64_t begin = (int64_t)blockIdx.x * tile;
    const int count = n - begin < tile ? (int)(n - begin) : tile, warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    T elements[items], sum = 0, total;
    if (count == tile)
        block_load(memory.load).Load(x + begin, elements);
    else
        block_load(memory.load).Load(x + begin, elements, count, (T)0);
#pragma unroll
    for (int i = 0; i < items; i++)
        elements[i] = scan_one<is_inclusive>(sum, elements[i]);
    __syncthreads();
    memory.of_threads[threadIdx.x] = sum;
    __syncwarp();
    const T threads_before = scan_values<32>(memory.of_threads + 32 * warp, lane, total);
    if (lane == 0)
        of_warps[warp] = total;
    __syncthreads();
    const T warps_before = scan_values<warps>(of_warps, warp, total);
    if (warp == 0) {
        const scan_before<T> before = scan_look_back(reinterpret_cast<share_words<T, SCAN_WORDS> *>(work), total);
        if (lane == 0)
            of_tile = before;
    }
    __syncthreads();
    const scan_before<T> before = of_tile;
#pragma unroll
    for (int i = 0; i < items; i++)
        elements[i] = scan_plus(before, warps_before, threads_before, elements[i]);
    if (count == tile)
        block_store(memory.store).Store(y + begin, elements);
    else
        block_store(memory.store).Store(y + begin, elements, count);
}

#else

/* ---- On the CPU: a thread for each tile, in the same order ----
 *
 * Threads take the tiles in order, so that a thread waits only for tiles on which others work already. They take turns
 * to find the sums before a tile, which takes little time compared with the tile itself. */

/* State of the scan; all bytes are 0 before the first tile. */
template <typename T> struct scan_state {
    uint64_t begun;        /* number of tiles taken; atomic */
    uint64_t turn;         /* the tile whose turn it is; atomic */
    scan_before<T> before; /* the sums before that tile */
};

/* Waits for a tile's turn, returns the sums before the tile, and adds that of the tile. */
template <typename T> __device__ __forceinline__ scan_before<T> scan_turn(scan_state<T> *state, int64_t tile, T sum)
{
    share_await(&state->turn, (uint64_t)tile);
    const scan_before<T> before = state->before;
    scan_before<T> after = before;
    after.tiles = share_plus(after.tiles, sum);
    if (tile % 32 == 31) {
        after.groups = share_plus(after.groups, after.tiles);
        after.tiles = 0;
    }
    state->before = after;
    __atomic_store_n(&state->turn, (uint64_t)tile + 1, __ATOMIC_RELEASE);
    return before;
}

/* Number of threads whose elements are added at the same time, so that additions do not wait for one another. The sums
 * are scalars, since gathering a vector from eight places for each step takes longer. */
#define SCAN_ABREAST 8
#define SCAN_EACH(what) what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7)

/* Scans the elements of each thread of a tile, and sets sums[t] to the sum of thread t's elements. */
template <bool is_inclusive, typename T>
__device__ __forceinline__ void scan_elements(const T *x, T *y, int count, T *sums)
{
    constexpr int items = SCAN_ITEMS(sizeof(T));
    const int whole = count / (SCAN_ABREAST * items) * SCAN_ABREAST;
    for (int t = 0; t < whole; t += SCAN_ABREAST, x += SCAN_ABREAST * items, y += SCAN_ABREAST * items) {
#define SCAN_BEGIN(k) T sum##k = 0;
#define SCAN_STEP(k) y[k * items + i] = scan_one<is_inclusive>(sum##k, x[k * items + i]);
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
            y[i] = scan_one<is_inclusive>(sums[t], x[i]);
    }
}

/* Replaces the sum of each thread by the sum of the earlier threads of its warp, and sets warps[w] to the sum of the
 * warps before w. Returns the sum of the tile. */
template <typename T> __device__ __forceinline__ T scan_warps(T *sums, T (&warps)[SCAN_THREADS / 32])
{
    T total = 0;
    for (T &warp : warps)
        warp = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int warp = 0; warp < SCAN_THREADS / 32; warp++) {
            T &sum = sums[32 * warp + lane];
            sum = scan_one<false>(warps[warp], sum);
        }
    for (T &warp : warps)
        warp = scan_one<false>(total, warp);
    return total;
}

template <bool is_inclusive, typename T>
__device__ __forceinline__ void scan_next(int64_t n, const T *x, T *y, uint64_t *work, int64_t tiles)
{
    constexpr int items = SCAN_ITEMS(sizeof(T)), tile = SCAN_TILE(sizeof(T));
    static_assert(sizeof(scan_state<T>) <= SCAN_STATE * sizeof *work, "");
    scan_state<T> *state = reinterpret_cast<scan_state<T> *>(work);
    const int64_t number = tiles > 1 ? (int64_t)__atomic_fetch_add(&state->begun, 1, __ATOMIC_RELAXED) : 0;
    const int64_t begin = number * tile;
    const int count = n - begin < tile ? (int)(n - begin) : tile;
    T sums[SCAN_THREADS], warps[SCAN_THREADS / 32];
    y += begin;
    scan_elements<is_inclusive>(x + begin, y, count, sums);
    const T sum = scan_warps(sums, warps);
    const scan_before<T> before = tiles > 1 ? scan_turn(state, number, sum) : scan_before<T>{0, 0};
    for (int t = 0; t * items < count; t++) {
        const int end = count < (t + 1) * items ? count : (t + 1) * items;
        for (int i = t * items; i < end; i++)
            y[i] = scan_plus(before, warps[t / 32], sums[t], y[i]);
    }
}

#endif
#endif
