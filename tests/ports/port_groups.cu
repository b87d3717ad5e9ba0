/* port_groups.cu - kernels with cooperative groups as CUDA code typically has them: tiles, blocks, whole grids. */
#include <cooperative_groups.h>
#include <stdint.h>

namespace cg = cooperative_groups;

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

template <int SIZE, typename T> __device__ T tile_sum(const cg::thread_block_tile<SIZE> &tile, T value)
{
    for (int offset = tile.size() / 2; offset > 0; offset /= 2)
        value += tile.shfl_down(value, offset);
    return value;
}

/* Sums tiles of SIZE lanes; the first lane of each tile adds its sum to the result. */
#pragma cf kernel grid(n) block(128) in(x[n]) inout(sum[1])
#pragma cf instances(tile32: 32; tile4: 4)
template <int SIZE> __global__ void group_sum(const int *x, long long *sum, int n)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<SIZE>(block);
    const int i = blockIdx.x * block.size() + block.thread_rank();
    long long value = i < n ? x[i] : 0;
    value = tile_sum<SIZE>(tile, value);
    if (tile.thread_rank() == 0)
        atomicAdd((unsigned long long *)sum, (unsigned long long)value);
}

/* Reverses each row through shared memory of the block. */
#pragma cf kernel blocks(rows) block(64) in(x[rows][64]) out(y[rows][64])
__global__ void group_reverse(const float *x, float *y, int rows)
{
    __shared__ float row[64];
    auto block = cg::this_thread_block();
    row[block.thread_rank()] = x[blockIdx.x * 64 + threadIdx.x];
    block.sync();
    y[blockIdx.x * 64 + threadIdx.x] = row[63 - block.thread_rank()];
}

/* Sums in two phases: each block stores its sum, the grid waits, and block 0 adds the sums. */
#pragma cf kernel blocks(16) block(128) cooperative shared(128 * sizeof(double)) in(x[n]) out(sum[1]) \
    scratch(partial[16]) tolerance(1e-9)
__global__ void grid_sum(const double *__restrict__ x, double *sum, double *partial, int64_t n)
{
    extern __shared__ double tile[];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    const int tid = block.thread_rank();
    double mine = 0;
    for (int64_t i = grid.thread_rank(); i < n; i += grid.size())
        mine += x[i];
    tile[tid] = mine;
    cg::sync(block);
    for (int half = block.size() / 2; half > 0; half /= 2) {
        if (tid < half)
            tile[tid] += tile[tid + half];
        cg::sync(block);
    }
    if (tid == 0)
        partial[blockIdx.x] = tile[0];
    grid.sync();
    if (grid.thread_rank() == 0) {
        double total = 0;
        for (int b = 0; b < (int)gridDim.x; b++)
            total += partial[b];
        *sum = total;
    }
}

/* Runs `steps` steps of a heat equation on a ring in one launch, with a grid barrier between steps. The result is in u
 * if `steps` is even, and otherwise in v. */
#pragma cf kernel blocks(8) block(64) cooperative inout(u[n], v[n]) check(0 <= steps <= 100) tolerance(1e-5)
__global__ void grid_heat(float *u, float *v, int steps, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int step = 0; step < steps; step++) {
        const float *from = step % 2 ? v : u;
        float *to = step % 2 ? u : v;
        for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
            to[i] = 0.25f * from[(i + n - 1) % n] + 0.5f * from[i] + 0.25f * from[(i + 1) % n];
        grid.sync();
    }
}
