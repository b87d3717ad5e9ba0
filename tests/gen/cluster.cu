/* cluster.cu - blocks of a cluster that wait for one another and read one another's memory, for test_cluster.c. */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { THREADS = 32 };

/* Ranks and sizes for every thread, in a cluster of 2 x 3 x 1 blocks. */
#pragma cf kernel blocks(4, 6, 2) block(8, 2) out(results[16 * 48 * 12])
__global__ __cluster_dims__(2, 3, 1) void ranks(int *results)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int *r = results + (block * 16 + threadIdx.y * 8 + threadIdx.x) * 12;
    r[0] = cluster.block_rank(), r[1] = cluster.num_blocks();
    r[2] = cluster.thread_rank(), r[3] = cluster.num_threads();
    r[4] = cluster.block_index().x, r[5] = cluster.block_index().y, r[6] = cluster.block_index().z;
    r[7] = cluster.dim_blocks().x, r[8] = cluster.dim_blocks().y, r[9] = cluster.dim_blocks().z;
    r[10] = cluster.thread_index().x, r[11] = cluster.dim_threads().y;
    cluster.sync();
}

/* Each thread stores ranks and sizes in a kernel without clusters, where each block is a cluster of its own. */
#pragma cf kernel blocks(blocks) block(64) out(results[blocks * 4])
__global__ void single(int *results, int blocks)
{
    __shared__ int sum;
    const auto cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), (int)threadIdx.x);
    cluster.sync();
    if (threadIdx.x == 0) {
        int *r = results + blockIdx.x * 4;
        r[0] = sum, r[1] = cluster.num_blocks(), r[2] = cluster.block_rank(), r[3] = cluster.num_threads();
    }
}

/* The blocks of a cluster count into the bins of one histogram, whose bins are distributed over the blocks' memory. */
#pragma cf kernel blocks((n + 127) / 128 * SIZE) block(32) in(x[n])inout(bins[SIZE * 16]) shared(16 * sizeof(int)) \
    check(n > 0)
#pragma cf instances(one : 1; two : 2; four : 4)
template <int SIZE> __global__ void __cluster_dims__(SIZE, 1, 1) histogram(const int *x, int n, int *bins)
{
    extern __shared__ int part[];
    const auto cluster = cg::this_cluster();
    if (threadIdx.x < 16)
        part[threadIdx.x] = 0;
    cluster.sync();
    const int all = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
        const int bin = x[i] % (SIZE * 16);
        atomicAdd(cluster.map_shared_rank(part, bin / 16) + bin % 16, 1);
    }
    cluster.sync();
    if (threadIdx.x < 16)
        atomicAdd(&bins[cluster.block_rank() * 16 + threadIdx.x], part[threadIdx.x]);
}

/* Each block passes its row on in the cluster, several times. Blocks with an odd rank come to the variable later. */
#pragma cf kernel blocks(blocks) block(32) cluster(4) inout(x[blocks * 32])
__global__ void rotate(int *x, int blocks, int rounds)
{
    const auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x;
    const int i = blockIdx.x * THREADS + t;
    if (rank % 2)
        __syncthreads();
    __shared__ int row[2][THREADS];
    row[0][t] = x[i];
    for (int r = 0; r < rounds; r++) {
        auto token = cluster.barrier_arrive();
        cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(token));
        row[(r + 1) % 2][t] = cluster.map_shared_rank(&row[r % 2][0], (rank + 1) % 4)[(t + 1) % THREADS];
    }
    cluster.barrier_arrive();
    cluster.barrier_wait();
    const unsigned from = cluster.query_shared_rank(cluster.map_shared_rank(&row[0][t], (rank + 3) % 4));
    x[i] = row[rounds % 2][t] + (from == (rank + 3) % 4 ? 0 : 1000000);
}

/* Some threads end before the other threads wait. */
#pragma cf kernel blocks(blocks) block(32) out(x[blocks * 32])
__global__ void __attribute__((cluster_dims(2, 1, 1))) leave(int *x, int blocks)
{
    __shared__ int cell;
    const auto cluster = cg::this_cluster();
    const int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] = -1;
    if (threadIdx.x >= 24)
        return;
    if (threadIdx.x == 0)
        cell = blockIdx.x;
    cluster.sync();
    x[i] = *cluster.map_shared_rank(&cell, 1 - cluster.block_rank());
    cluster.sync();
}

/* The warps of a block wait for the cluster and for the block in different orders. Both are permitted because all of
 * them arrive first. */
#pragma cf kernel blocks(blocks) block(64) out(x[blocks * 64])
__attribute__((cluster_dims(2))) __global__ void cross(int *x, int blocks, int rounds)
{
    __shared__ int cells[2][64];
    const auto cluster = cg::this_cluster();
    const unsigned t = threadIdx.x, other = 1 - cluster.block_rank();
    cells[0][t] = blockIdx.x * 64 + t;
    for (int r = 0; r < rounds; r++) {
        cluster.barrier_arrive();
        if (t < 32)
            cluster.barrier_wait();
        __syncthreads();
        if (t >= 32)
            cluster.barrier_wait();
        cells[(r + 1) % 2][t] = *cluster.map_shared_rank(&cells[r % 2][63 - t], other);
    }
    x[blockIdx.x * 64 + t] = cells[rounds % 2][t];
    cluster.sync();
}

/* ---- Mistakes, for the CPU ---- */

/* Some threads arrive several times, wait several times and end; the other threads wait for them. */
#pragma cf kernel blocks(4) block(32) out(x[128])
__global__ void __cluster_dims__(4) steps(int arrivals, int waits, int *x)
{
    const auto cluster = cg::this_cluster();
    x[blockIdx.x * THREADS + threadIdx.x] = arrivals;
    if (threadIdx.x % 3 == 0) {
        for (int i = 0; i < arrivals; i++)
            cluster.barrier_arrive();
        for (int i = 0; i < waits; i++)
            cluster.barrier_wait();
        return;
    }
    cluster.barrier_arrive();
    cluster.barrier_wait();
    cluster.sync();
    x[blockIdx.x * THREADS + threadIdx.x] = waits;
}

/* Each argument selects a mistake: mapping memory that is not a shared variable, or waiting in different places. */
#pragma cf kernel blocks(2) block(32) out(x[64])
__global__ void __cluster_dims__(2) mistake(int rank, bool is_shared, bool is_asked, bool is_alone, int *x)
{
    __shared__ int cell;
    const auto cluster = cg::this_cluster();
    cell = 1;
    if (is_alone && cluster.block_rank())
        __syncthreads();
    else if (is_alone && threadIdx.x < 31)
        cluster.sync();
    else if (is_alone)
        __syncthreads();
    if (is_asked)
        x[0] = cluster.query_shared_rank(x);
    x[blockIdx.x * THREADS + threadIdx.x] = *cluster.map_shared_rank(is_shared ? &cell : x, rank);
    cluster.sync();
}

/* Waits for the cluster in a cooperative kernel that has none, where only the grid can wait. */
#pragma cf kernel blocks(2) block(32) out(x[64]) cooperative
__global__ void together(int *x)
{
    cg::this_cluster().sync();
    x[blockIdx.x * THREADS + threadIdx.x] = 1;
}
