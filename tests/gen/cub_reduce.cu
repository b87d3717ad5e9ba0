/* cub_reduce.cu - CUB's reductions and scans of blocks and warps, for test_cub_reduce.c. Inputs and outputs are
 * integers; each instance computes in a type of its own, which represents all results exactly. */
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#define ITEMS 3

/* Returns the last number that is not 0, so that the order of the operands matters. */
struct last {
    template <typename T> __device__ T operator()(T a, T b) const
    {
        return b == T(0) ? a : b;
    }
};

/* A type for sums that has several words. */
struct wide {
    int sum;
    double more[2];

    wide() = default;
    __device__ wide(int x) : sum(x), more{}
    {
    }
    __device__ explicit operator int() const
    {
        return sum;
    }
    __device__ wide operator+(const wide &other) const
    {
        return wide(sum + other.sum);
    }
    __device__ bool operator==(const wide &other) const
    {
        return sum == other.sum;
    }
};

/* Maps the type in the name of an instance, which C can declare, to the type in which it computes. */
template <typename T> struct type_of {
    typedef T type;
};
template <> struct type_of<double3> {
    typedef wide type;
};

/* A prefix callback: the number before each tile of a block. */
template <typename T> struct running {
    T total;

    __device__ T operator()(T sum)
    {
        const T before = total;
        total = before + sum;
        return before;
    }
};

/* ---- Blocks ---- */

#pragma cf kernel blocks(1) block(X, Y, Z) in(x[X * Y * Z * ITEMS]) out(results[6])
#pragma cf instances(i32_1: int, 1, 1, 1, 2; f32_48: float, 48, 1, 1, 2; f64_16_8: double, 16, 8, 1, 2; \
    wide_8_4_3: double3, 8, 4, 3, 2; i32_raking: int, 40, 3, 1, 1; i32_commutative: int, 128, 1, 1, 0)
template <typename Named, int X, int Y, int Z, int ALGORITHM>
__global__ void block_reduce(const int *x, int valid, int *results)
{
    typedef typename type_of<Named>::type T;
    typedef cub::BlockReduce<T, X, cub::BlockReduceAlgorithm(ALGORITHM), Y, Z> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    const int t = cub::RowMajorTid(X, Y, Z);
    T items[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        items[i] = T(x[t * ITEMS + i]);
    T sums[6];
    sums[0] = Reduce(storage).Sum(items[0]);
    __syncthreads();
    sums[1] = Reduce(storage).Sum(items);
    __syncthreads();
    sums[2] = Reduce(storage).Sum(items[0], valid);
    __syncthreads();
    Reduce reduce; /* uses memory that it declares itself */
    sums[3] = reduce.Reduce(items[0], last());
    __syncthreads();
    sums[4] = reduce.Reduce(items[1], last(), valid);
    __syncthreads();
    sums[5] = reduce.Reduce(items, last());
    if (t == 0)
        for (int i = 0; i < 6; i++)
            results[i] = (int)sums[i];
}

#define SCANS 20

/* The first rows of results are for one item per thread, the following rows for several items. */
#pragma cf kernel blocks(1) block(X, Y, Z) in(x[2 * X * Y * Z * ITEMS]) \
    inout(results[SCANS][2 * X * Y * Z * ITEMS]) out(sums[6][X * Y * Z])
#pragma cf instances(i32_1: int, 1, 1, 1, 0; i32_48: int, 48, 1, 1, 2; f32_96: float, 96, 1, 1, 2; \
    i64_8_4_3: long long, 8, 4, 3, 0; wide_memoize: double3, 40, 3, 1, 1)
template <typename Named, int X, int Y, int Z, int ALGORITHM>
__global__ void block_scan(const int *x, int *results, int *sums)
{
    typedef typename type_of<Named>::type T;
    typedef cub::BlockScan<T, X, cub::BlockScanAlgorithm(ALGORITHM), Y, Z> Scan;
    __shared__ union {
        typename Scan::TempStorage storage;
        int other;
    } memory;
    const int t = cub::RowMajorTid(X, Y, Z), threads = X * Y * Z, row = 2 * threads * ITEMS;
    running<T> one[2] = {{T(7)}, {T(7)}}, several[2] = {{T(7)}, {T(7)}};
    for (int tile = 0; tile < 2; tile++) {
        const T own = T(x[tile * threads + t]);
        T out, sum;
        Scan scan(memory.storage);
        int at = tile * threads + t;
#define ONE(...)                \
    do {                        \
        scan.__VA_ARGS__;       \
        results[at] = (int)out; \
        at += row;              \
        __syncthreads();        \
    } while (0)
#define SUM(n) sums[(n)*threads + t] = (int)sum
        ONE(InclusiveSum(own, out));
        ONE(ExclusiveSum(own, out));
        ONE(InclusiveSum(own, out, sum));
        SUM(0);
        ONE(ExclusiveSum(own, out, sum));
        SUM(1);
        ONE(InclusiveScan(own, out, last()));
        ONE(ExclusiveScan(own, out, T(5), last()));
        ONE(ExclusiveScan(own, out, last(), sum));
        SUM(2);
        ONE(ExclusiveScan(own, out, T(5), last(), sum));
        SUM(3);
        ONE(InclusiveSum(own, out, one[0]));
        ONE(ExclusiveSum(own, out, one[1]));

        T items[ITEMS], scanned[ITEMS];
        for (int i = 0; i < ITEMS; i++)
            items[i] = T(x[(tile * threads + t) * ITEMS + i]);
        at = 10 * row + (tile * threads + t) * ITEMS;
#define SEVERAL(...)                           \
    do {                                       \
        scan.__VA_ARGS__;                      \
        for (int i = 0; i < ITEMS; i++)        \
            results[at + i] = (int)scanned[i]; \
        at += row;                             \
        __syncthreads();                       \
    } while (0)
        SEVERAL(InclusiveSum(items, scanned));
        SEVERAL(ExclusiveSum(items, scanned));
        SEVERAL(InclusiveSum(items, scanned, sum));
        SUM(4);
        SEVERAL(ExclusiveSum(items, scanned, sum));
        SUM(5);
        SEVERAL(InclusiveScan(items, scanned, last()));
        SEVERAL(ExclusiveScan(items, scanned, T(5), last()));
        SEVERAL(ExclusiveScan(items, scanned, last()));
        SEVERAL(InclusiveScan(items, scanned, T(5), last()));
        SEVERAL(InclusiveSum(items, scanned, several[0]));
        SEVERAL(ExclusiveSum(items, scanned, several[1]));
    }
}

/* Nothing in the kernel's own text says that its threads wait for one another. */
typedef cub::BlockReduce<int, 64> SumOfBlock;

#pragma cf kernel blocks(1) block(64) in(x[64]) out(sum[1])
__global__ void sum_without_memory(const int *x, int *sum)
{
    const int all = SumOfBlock().Sum(x[threadIdx.x]);
    if (threadIdx.x == 0)
        *sum = all;
}

/* ---- Warps ---- */

#define WARP_ROWS 14

/* Parts of WIDTH threads. If WIDTH is not a power of two, each warp has only one part. */
#pragma cf kernel blocks(1) block(64) in(x[64]) inout(results[WARP_ROWS][64])
#pragma cf instances(i32_32: int, 32; f32_8: float, 8; wide_16: double3, 16; i32_12: int, 12; i64_1: long long, 1)
template <typename Named, int WIDTH> __global__ void warps(const int *x, int valid, int *results)
{
    typedef typename type_of<Named>::type T;
    typedef cub::WarpReduce<T, WIDTH> Reduce;
    typedef cub::WarpScan<T, WIDTH> Scan;
    __shared__ typename Reduce::TempStorage of_reduce[64 / WIDTH + 1];
    __shared__ typename Scan::TempStorage of_scan[64 / WIDTH + 1];
    const int t = threadIdx.x, part = t / 32 * (32 / WIDTH) + t % 32 / WIDTH;
    if ((WIDTH & (WIDTH - 1)) != 0 && t % 32 >= WIDTH)
        return;
    const unsigned int mask = WIDTH == 32 ? 0xffffffff : ((1u << WIDTH % 32) - 1) << t % 32 / WIDTH * WIDTH;
    const int first = x[t];
    const T own = T(first);
    T out, other, sum;
    int at = t;
#define ROW(value)                  \
    do {                            \
        results[at] = (int)(value); \
        at += 64;                   \
        __syncwarp(mask);           \
    } while (0)
    Reduce reduce(of_reduce[part]);
    ROW(reduce.Sum(own));
    ROW(reduce.Sum(own, valid));
    ROW(reduce.Reduce(own, last()));
    ROW(reduce.HeadSegmentedSum(own, first % 3 == 0));
    ROW(reduce.TailSegmentedReduce(own, first % 3 == 0, last()));
    Scan scan(of_scan[part]);
    scan.InclusiveSum(own, out);
    ROW(out);
    scan.ExclusiveSum(own, out, sum);
    ROW(out);
    ROW(sum);
    scan.InclusiveScan(own, out, last(), sum);
    ROW(out);
    ROW(sum);
    scan.ExclusiveScan(own, out, T(5), last());
    ROW(out);
    scan.Scan(own, out, other, last());
    ROW(out);
    ROW(other);
    ROW(scan.Broadcast(own, WIDTH - 1));
}

/* ---- The order of sums ---- */

#pragma cf kernel blocks(1) block(128) in(x[128]) out(sum[1], sums[128])
__global__ void order(const float *x, float *sum, float *sums)
{
    typedef cub::BlockReduce<float, 128> Reduce;
    typedef cub::BlockScan<float, 128, cub::BLOCK_SCAN_WARP_SCANS> Scan;
    __shared__ typename Reduce::TempStorage of_reduce;
    __shared__ typename Scan::TempStorage of_scan;
    const float all = Reduce(of_reduce).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0)
        *sum = all;
    Scan(of_scan).InclusiveSum(x[threadIdx.x], sums[threadIdx.x]);
}
