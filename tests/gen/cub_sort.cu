/* cub_sort.cu - CUB's sorts, histograms and flags, for test_cub_sort.c. */
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cuda/std/tuple>
#include <cuda_fp16.h>
#include <stdint.h>
#include <string.h>

/* ---- Sorts by bits ---- */

/* Converts a key from and to its bits. */
template <typename Key> __device__ Key key_of(uint64_t bits)
{
    Key key;
    memcpy(&key, &bits, sizeof key);
    return key;
}

template <typename Key> __device__ uint64_t bits_of(const Key &key)
{
    uint64_t bits = 0;
    memcpy(&bits, &key, sizeof key);
    return bits;
}

/* Rows: ascending, descending, and both with striped results; then all four with the keys' numbers as values. */
#pragma cf kernel blocks(1) block(X, Y) in(keys[X * Y * ITEMS]) \
    out(sorted[8][X * Y * ITEMS], numbers[4][X * Y * ITEMS]) check(0 <= begin, begin < end, end <= 64)
#pragma cf instances(i32: int, 64, 1, 3; u8: unsigned char, 40, 1, 2; u32: unsigned int, 1, 1, 5; \
    i64: int64_t, 32, 1, 1; f64: double, 32, 3, 2; f16: __half, 16, 4, 4)
template <typename Key, int X, int Y, int ITEMS>
__global__ void radix_sorts(const uint64_t *keys, int begin, int end, uint64_t *sorted, int *numbers)
{
    typedef cub::BlockRadixSort<Key, X, ITEMS, cub::NullType, 4, true, cub::BLOCK_SCAN_WARP_SCANS,
                                cudaSharedMemBankSizeFourByte, Y>
        Sort;
    typedef cub::BlockRadixSort<Key, X, ITEMS, int, 4, true, cub::BLOCK_SCAN_WARP_SCANS, cudaSharedMemBankSizeFourByte,
                                Y>
        Pairs;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Pairs::TempStorage pairs;
    } memory;
    const int t = threadIdx.y * X + threadIdx.x, all = X * Y * ITEMS;
    Key own[ITEMS];
    int values[ITEMS], row = 0;
#define ROW(...)                                           \
    do {                                                   \
        for (int i = 0; i < ITEMS; i++) {                  \
            values[i] = t * ITEMS + i;                     \
            own[i] = key_of<Key>(keys[values[i]]);         \
        }                                                  \
        __VA_ARGS__;                                       \
        for (int i = 0; i < ITEMS; i++) {                  \
            const int at = t * ITEMS + i;                  \
            sorted[row * all + at] = bits_of(own[i]);      \
            if (row >= 4)                                  \
                numbers[(row - 4) * all + at] = values[i]; \
        }                                                  \
        row++;                                             \
        __syncthreads();                                   \
    } while (0)
    if (begin == 0 && end >= 8 * (int)sizeof(Key)) {
        ROW(Sort(memory.sort).Sort(own));
        ROW(Sort(memory.sort).SortDescending(own));
        ROW(Sort(memory.sort).SortBlockedToStriped(own));
        ROW(Sort(memory.sort).SortDescendingBlockedToStriped(own));
    } else {
        ROW(Sort(memory.sort).Sort(own, begin, end));
        ROW(Sort(memory.sort).SortDescending(own, begin, end));
        ROW(Sort(memory.sort).SortBlockedToStriped(own, begin, end));
        ROW(Sort(memory.sort).SortDescendingBlockedToStriped(own, begin, end));
    }
    ROW(Pairs(memory.pairs).Sort(own, values, begin, end));
    ROW(Pairs(memory.pairs).SortDescending(own, values, begin, end));
    ROW(Pairs(memory.pairs).SortBlockedToStriped(own, values, begin, end));
    ROW(Pairs(memory.pairs).SortDescendingBlockedToStriped(own, values, begin, end));
}

struct members {
    unsigned char low;
    short high;
};

struct to_members {
    __device__ cuda::std::tuple<short &, unsigned char &> operator()(members &key) const
    {
        return {key.high, key.low};
    }
};

/* The rows are sorted ascending and descending, by all bits and by some bits. */
#pragma cf kernel blocks(1) block(64) in(keys[128]) out(numbers[4][128]) check(0 <= begin, begin < end, end <= 24)
__global__ void member_sorts(const int *keys, int begin, int end, int *numbers)
{
    typedef cub::BlockRadixSort<members, 64, 2, int> Sort;
    __shared__ typename Sort::TempStorage storage;
    const int t = threadIdx.x;
    for (int row = 0; row < 4; row++) {
        members own[2];
        int values[2] = {2 * t, 2 * t + 1};
        for (int i = 0; i < 2; i++)
            own[i] = {(unsigned char)keys[values[i]], (short)(keys[values[i]] >> 8)};
        if (row == 0)
            Sort(storage).Sort(own, values, to_members());
        else if (row == 1)
            Sort(storage).SortDescending(own, values, to_members());
        else if (row == 2)
            Sort(storage).Sort(own, values, to_members(), begin, end);
        else
            Sort(storage).SortDescending(own, values, to_members(), begin, end);
        for (int i = 0; i < 2; i++)
            numbers[row * 128 + 2 * t + i] = values[i];
        __syncthreads();
    }
}

/* There is no barrier between the two sorts, because each class has memory of its own. */
#pragma cf kernel blocks(1) block(64) in(keys[128]) out(sorted[2][128])
__global__ void two_sorts(const int *keys, int *sorted)
{
    int first[2], second[2];
    for (int i = 0; i < 2; i++) {
        first[i] = keys[threadIdx.x * 2 + i];
        second[i] = -first[i];
    }
    cub::BlockRadixSort<int, 64, 2>().Sort(first);
    cub::BlockMergeSort<int, 64, 2>().Sort(second, [](int a, int b) { return a < b; });
    for (int i = 0; i < 2; i++) {
        sorted[threadIdx.x * 2 + i] = first[i];
        sorted[128 + threadIdx.x * 2 + i] = second[i];
    }
}

/* ---- Sorts by comparison ---- */

struct less_tens {
    __device__ bool operator()(int a, int b) const
    {
        return a / 10 < b / 10;
    }
};

/* The rows are all keys, all keys with numbers, the first `valid` keys, and the first `valid` keys with numbers. */
#define MERGES                                                         \
    int own[ITEMS], values[ITEMS], row = 0;                            \
    MERGE(Sort(storage).Sort(own, less_tens()));                       \
    MERGE(Sort(storage).StableSort(own, values, less_tens()));         \
    MERGE(Sort(storage).StableSort(own, less_tens(), valid, 1000000)); \
    MERGE(Sort(storage).Sort(own, values, less_tens(), valid, 1000000));
#define MERGE(...)                                      \
    do {                                                \
        for (int i = 0; i < ITEMS; i++) {               \
            values[i] = threadIdx.x * ITEMS + i;        \
            own[i] = keys[values[i]];                   \
        }                                               \
        __VA_ARGS__;                                    \
        for (int i = 0; i < ITEMS; i++) {               \
            const int at = threadIdx.x * ITEMS + i;     \
            sorted[row * 64 * ITEMS + at] = own[i];     \
            numbers[row * 64 * ITEMS + at] = values[i]; \
        }                                               \
        row++;                                          \
        __syncthreads();                                \
    } while (0)

#pragma cf kernel blocks(1) block(64) in(keys[64 * ITEMS]) \
    out(sorted[4][64 * ITEMS], numbers[4][64 * ITEMS]) check(0 <= valid)
#pragma cf instances(items_3: 3; items_1: 1)
template <int ITEMS> __global__ void block_merge(const int *keys, int valid, int *sorted, int *numbers)
{
    typedef cub::BlockMergeSort<int, 64, ITEMS, int> Sort;
    __shared__ typename Sort::TempStorage storage;
    MERGES
}

#pragma cf kernel blocks(1) block(64) in(keys[64 * ITEMS]) \
    out(sorted[4][64 * ITEMS], numbers[4][64 * ITEMS]) check(0 <= valid)
#pragma cf instances(of_32: 32, 3; of_8: 8, 5; of_2: 2, 1)
template <int WIDTH, int ITEMS> __global__ void warp_merge(const int *keys, int valid, int *sorted, int *numbers)
{
    typedef cub::WarpMergeSort<int, ITEMS, WIDTH, int> Sort;
    __shared__ typename Sort::TempStorage storages[64 / WIDTH];
    typename Sort::TempStorage &storage = storages[threadIdx.x / WIDTH];
    MERGES
}

/* ---- Histograms ---- */

/* Counts the elements of the first half of x, then adds those of the second half. */
#pragma cf kernel blocks(1) block(X, Y) in(x[2][X * Y * 3]) out(counts[50]) check(0 <= x[:] < 50)
#pragma cf instances(sort: unsigned char, 32, 1, 0; atomic: unsigned char, 40, 2, 1; wide: int, 64, 1, 0)
template <typename T, int X, int Y, int ALGORITHM> __global__ void histogram(const T *x, int *counts)
{
    typedef cub::BlockHistogram<T, X, 3, 50, cub::BlockHistogramAlgorithm(ALGORITHM), Y> Histogram;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ unsigned int shared[50];
    const int t = threadIdx.y * X + threadIdx.x;
    T items[3];
    for (int i = 0; i < 3; i++)
        items[i] = x[3 * t + i];
    Histogram(storage).Histogram(items, shared);
    __syncthreads();
    for (int i = 0; i < 3; i++)
        items[i] = x[3 * (X * Y + t) + i];
    Histogram(storage).Composite(items, shared);
    __syncthreads();
    for (int i = t; i < 50; i += X * Y)
        counts[i] = (int)shared[i];
}

/* ---- Flags ---- */

struct differ {
    template <typename T> __device__ bool operator()(const T &a, const T &b) const
    {
        return a != b;
    }
};

/* In addition, every third item begins a group. */
struct differ_or_third {
    template <typename T> __device__ bool operator()(const T &a, const T &b, int number) const
    {
        return a != b || number % 3 == 0;
    }
};

#pragma cf kernel blocks(1) block(X, Y) in(x[X * Y * 2]) out(results[17][X * Y * 2])
#pragma cf instances(i32: int, 32, 1; f64: double, 9, 5; one: int, 1, 1)
template <typename T, int X, int Y> __global__ void flags(const T *x, int before, int after, int *results)
{
    typedef cub::BlockDiscontinuity<T, X, Y> Flags;
    __shared__ typename Flags::TempStorage storage;
    const int t = threadIdx.y * X + threadIdx.x, all = X * Y * 2;
    T items[2] = {x[2 * t], x[2 * t + 1]}, previous[2] = {T(-1), T(-1)};
    int heads[2], tails[2];
    int row = 0;
#define PUT(values)                                        \
    do {                                                   \
        results[row * all + 2 * t] = (int)(values)[0];     \
        results[row * all + 2 * t + 1] = (int)(values)[1]; \
        row++;                                             \
        __syncthreads();                                   \
    } while (0)
    Flags(storage).FlagHeads(heads, items, differ());
    PUT(heads);
    Flags(storage).FlagHeads(heads, items, differ(), T(before));
    PUT(heads);
    Flags(storage).FlagTails(tails, items, differ());
    PUT(tails);
    Flags(storage).FlagTails(tails, items, differ(), T(after));
    PUT(tails);
    Flags(storage).FlagHeadsAndTails(heads, tails, items, differ());
    PUT(heads);
    PUT(tails);
    Flags(storage).FlagHeadsAndTails(heads, tails, T(after), items, differ());
    PUT(heads);
    PUT(tails);
    Flags(storage).FlagHeadsAndTails(heads, T(before), tails, items, differ());
    PUT(heads);
    PUT(tails);
    Flags(storage).FlagHeadsAndTails(heads, T(before), tails, T(after), items, differ());
    PUT(heads);
    PUT(tails);
    Flags(storage).FlagHeads(heads, items, differ_or_third());
    PUT(heads);
    Flags(storage).FlagTails(tails, items, differ_or_third());
    PUT(tails);
    Flags(storage).FlagHeads(heads, items, previous, differ());
    PUT(previous);
    Flags(storage).FlagHeads(heads, items, previous, differ(), T(before));
    PUT(heads);
    PUT(previous);
}
