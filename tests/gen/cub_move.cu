/* cub_move.cu - CUB's loads, stores, exchanges and shuffles, for test_cub_move.c. */
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_store.cuh>

using namespace cub;

/* ---- Loads and stores ---- */

/* Loads x three times: all of it, its first `valid` elements, and these followed by -1. Each load is stored in two
 * rows: the items of each thread together, and by the load's own algorithm. */
#pragma cf kernel blocks(1) block(X, Y) in(x[X * Y * ITEMS]) inout(results[6][X * Y * ITEMS])
#pragma cf instances(direct: int, 24, 1, 3, 0; striped: float, 16, 4, 3, 1; vectorize: int, 64, 1, 4, 2; \
    transpose: double, 40, 1, 3, 3; warp: float, 32, 2, 5, 4; sliced: int, 96, 1, 2, 5)
template <typename T, int X, int Y, int ITEMS, int ALGORITHM> __global__ void loads(const T *x, int valid, T *results)
{
    typedef BlockLoad<T, X, ITEMS, BlockLoadAlgorithm(ALGORITHM), Y> Load;
    typedef BlockStore<T, X, ITEMS, BlockStoreAlgorithm(ALGORITHM), Y> Store;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } memory;
    const int all = X * Y * ITEMS, t = RowMajorTid(X, Y, 1);
    T items[ITEMS];
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            Load(memory.load).Load(x, items);
        else if (i == 1)
            Load(memory.load).Load(x, items, valid);
        else
            Load(memory.load).Load(x, items, valid, T(-1));
        __syncthreads();
        StoreDirectBlocked(t, results + 2 * i * all, items);
        if (i == 1)
            Store(memory.store).Store(results + (2 * i + 1) * all, items, valid);
        else
            Store(memory.store).Store(results + (2 * i + 1) * all, items);
        __syncthreads();
    }
}

/* Each warp shifts its part of x in place. */
#pragma cf kernel blocks(1) block(64) inout(x[64 * 3])
#pragma cf instances(direct: int, 32, 0; striped: float, 8, 1; transpose: int, 16, 3)
template <typename T, int WIDTH, int ALGORITHM> __global__ void warp_loads(T *x, int valid)
{
    typedef WarpLoad<T, 3, WarpLoadAlgorithm(ALGORITHM), WIDTH> Load;
    typedef WarpStore<T, 3, WarpStoreAlgorithm(ALGORITHM), WIDTH> Store;
    __shared__ typename Load::TempStorage load[64 / WIDTH];
    __shared__ typename Store::TempStorage store[64 / WIDTH];
    const int part = threadIdx.x / WIDTH;
    T items[3];
    Load(load[part]).Load(x + part * WIDTH * 3, items, valid, T(-1));
    for (int i = 0; i < 3; i++)
        items[i] += 100;
    Store(store[part]).Store(x + part * WIDTH * 3, items);
}

/* ---- Exchanges ---- */

#pragma cf kernel blocks(1) block(X, Y) in(ranks[X * Y * ITEMS]) inout(results[12][X * Y * ITEMS]) \
    check(0 <= ranks[:] < X * Y * ITEMS, distinct(ranks))
#pragma cf instances(i32: int, 64, 1, 3, false; f64: double, 16, 4, 4, false; sliced: int, 32, 3, 3, true)
template <typename T, int X, int Y, int ITEMS, bool IS_SLICED>
__global__ void exchanges(const int *ranks, int limit, T *results)
{
    typedef BlockExchange<T, X, ITEMS, IS_SLICED, Y> Exchange;
    __shared__ typename Exchange::TempStorage storage;
    const int t = RowMajorTid(X, Y, 1), all = X * Y * ITEMS;
    T items[ITEMS], out[ITEMS];
    int to[ITEMS], some[ITEMS];
    bool flags[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        items[i] = T(t * ITEMS + i);
        to[i] = ranks[t * ITEMS + i];
        flags[i] = to[i] < limit;
        some[i] = flags[i] ? to[i] : -1;
    }
    int row = 0;
#define ROW(...)                                         \
    do {                                                 \
        Exchange(storage).__VA_ARGS__;                   \
        for (int i = 0; i < ITEMS; i++)                  \
            results[row * all + t * ITEMS + i] = out[i]; \
        row++;                                           \
        __syncthreads();                                 \
    } while (0)
    ROW(StripedToBlocked(items, out));
    ROW(BlockedToStriped(items, out));
    ROW(WarpStripedToBlocked(items, out));
    ROW(BlockedToWarpStriped(items, out));
    ROW(ScatterToBlocked(items, out, to));
    ROW(ScatterToStriped(items, out, to));
    if (!IS_SLICED) {
        ROW(ScatterToStripedGuarded(items, out, some));
        ROW(ScatterToStripedFlagged(items, out, to, flags));
    } else {
        row += 2;
    }
    for (int i = 0; i < ITEMS; i++)
        out[i] = items[i];
    ROW(StripedToBlocked(out)); /* back to the first arrangement */
    ROW(BlockedToStriped(out));
    ROW(BlockedToWarpStriped(out));
    ROW(ScatterToBlocked(out, to));
}

#pragma cf kernel blocks(1) block(64) out(results[3][64 * ITEMS])
#pragma cf instances(i32_32: int, 32, 3, 0; f64_8: double, 8, 5, 0; i32_4: int, 4, 4, 1; f32_8: float, 8, 8, 1)
template <typename T, int WIDTH, int ITEMS, int ALGORITHM> __global__ void warp_exchanges(T *results)
{
    typedef WarpExchange<T, ITEMS, WIDTH, WarpExchangeAlgorithm(ALGORITHM)> Exchange;
    __shared__ typename Exchange::TempStorage storage[64 / WIDTH];
    const int t = threadIdx.x;
    T items[ITEMS], out[ITEMS];
    int to[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        items[i] = T(t * ITEMS + i);
        to[i] = WIDTH * ITEMS - 1 - (t % WIDTH * ITEMS + i);
    }
    Exchange exchange(storage[t / WIDTH]);
    exchange.BlockedToStriped(items, out);
    for (int i = 0; i < ITEMS; i++)
        results[t * ITEMS + i] = out[i];
    __syncwarp();
    exchange.StripedToBlocked(items, out);
    for (int i = 0; i < ITEMS; i++)
        results[(64 + t) * ITEMS + i] = out[i];
    __syncwarp();
    if constexpr (ALGORITHM == WARP_EXCHANGE_SMEM)
        exchange.ScatterToStriped(items, out, to);
    for (int i = 0; i < ITEMS; i++)
        results[(128 + t) * ITEMS + i] = out[i];
}

/* ---- Neighbours ---- */

#pragma cf kernel blocks(1) block(X, Y, Z) in(x[X * Y * Z * 2]) out(results[14][X * Y * Z * 2])
#pragma cf instances(i32: int, 32, 1, 1; f64: double, 9, 5, 2; one: int, 1, 1, 1)
template <typename T, int X, int Y, int Z> __global__ void neighbours(const T *x, int valid, T *results)
{
    typedef BlockShuffle<T, X, Y, Z> Shuffle;
    typedef BlockAdjacentDifference<T, X, Y, Z> Difference;
    __shared__ typename Shuffle::TempStorage of_shuffle;
    __shared__ typename Difference::TempStorage of_difference;
    const int t = RowMajorTid(X, Y, Z), all = X * Y * Z * 2;
    T items[2] = {x[2 * t], x[2 * t + 1]}, out[2];
    const auto minus = [](T a, T b) { return a - b; };
#define PUT(...)                     \
    do {                             \
        out[0] = out[1] = T(-99);    \
        __VA_ARGS__;                 \
        results[2 * t] = out[0];     \
        results[2 * t + 1] = out[1]; \
        results += all;              \
        __syncthreads();             \
    } while (0)
    PUT(Shuffle(of_shuffle).Offset(items[0], out[0]));
    PUT(Shuffle(of_shuffle).Offset(items[0], out[0], -2));
    PUT(Shuffle(of_shuffle).Rotate(items[0], out[0], X * Y * Z > 3 ? 3 : 0));
    PUT(Shuffle(of_shuffle).Up(items, out));
    T end;
    PUT(Shuffle(of_shuffle).Up(items, out, end); out[0] = end);
    PUT(Shuffle(of_shuffle).Down(items, out));
    PUT(Shuffle(of_shuffle).Down(items, out, end); out[1] = end);
    PUT(Difference(of_difference).SubtractLeft(items, out, minus));
    PUT(Difference(of_difference).SubtractLeft(items, out, minus, T(50)));
    PUT(Difference(of_difference).SubtractLeftPartialTile(items, out, minus, valid));
    PUT(Difference(of_difference).SubtractLeftPartialTile(items, out, minus, valid, T(50)));
    PUT(Difference(of_difference).SubtractRight(items, out, minus));
    PUT(Difference(of_difference).SubtractRight(items, out, minus, T(50)));
    PUT(Difference(of_difference).SubtractRightPartialTile(items, out, minus, valid));
}
