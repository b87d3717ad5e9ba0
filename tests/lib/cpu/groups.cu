/* groups.cu - cooperative groups, for test_groups.c. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <stdint.h>

#include "expect_kernel.h"

namespace cg = cooperative_groups;

__device__ unsigned block_rank()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/* Ranks within the block and the grid, for which no thread has to wait. */
#pragma cf kernel blocks(gx, gy) block(bx, by, bz) inout(wrong[2])
__global__ void ranks(int gx, int gy, int bx, int by, int bz, int *wrong)
{
    auto block = cg::this_thread_block();
    auto grid = cg::this_grid();
    EXPECT(block.thread_rank() == block_rank() && block.size() == bx * by * bz && block.num_threads() == block.size());
    EXPECT(block.group_index().x == blockIdx.x && block.thread_index().z == threadIdx.z);
    EXPECT(block.group_dim().y == by && block.dim_threads().x == bx);
    EXPECT(grid.num_blocks() == gx * gy && grid.block_rank() == blockIdx.y * gx + blockIdx.x);
    EXPECT(grid.thread_rank() == grid.block_rank() * block.size() + block.thread_rank());
    EXPECT(grid.size() == grid.num_blocks() * block.size() && grid.num_threads() == grid.size());
    EXPECT(grid.group_dim().x == gx && grid.dim_blocks().y == gy && grid.block_index().y == blockIdx.y);
    EXPECT(cg::thread_rank(block) == block.thread_rank() && cg::group_size(grid) == grid.size());
    auto tile = cg::tiled_partition<8>(block);
    EXPECT(tile.thread_rank() == block_rank() % 8 && tile.meta_group_rank() == block_rank() / 8);
    EXPECT(tile.meta_group_size() == (block.size() + 7) / 8 && tile.size() == 8 && tile.num_threads() == 8);
    EXPECT_END;
}

/* Like ranks(), without a loop. */
#pragma cf kernel blocks(n) block(32) out(y[n][32])
__global__ void ranks_alone(int n, int *y)
{
    auto warp = cg::tiled_partition<16>(cg::this_thread_block());
    y[cg::this_grid().thread_rank()] = warp.thread_rank() + 100 * warp.meta_group_rank();
}

struct wide {
    double a, b, c;
    int d;
};

/* Tiles whose size is known at compile time, in a block whose size is a multiple of 32. */
template <int Size> __device__ void check_tile(const cg::thread_block &block, int *wrong)
{
    cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(block);
    const unsigned lane = block_rank() % 32, first = lane / Size * Size, rank = lane - first;
    const unsigned all = Size == 32 ? 0xffffffff : (1u << Size % 32) - 1;
    const int base = block_rank() - rank;
    EXPECT(tile.thread_rank() == rank && tile.size() == Size);
    EXPECT(tile.meta_group_rank() == block_rank() / Size && tile.meta_group_size() == block.size() / Size);
    const int mine = block_rank() * 3;
    EXPECT(tile.shfl(mine, Size - 1) == (base + Size - 1) * 3);
    EXPECT(tile.shfl(mine, 0) == base * 3);
    EXPECT(tile.shfl_up(mine, 1) == (rank >= 1 ? mine - 3 : mine));
    EXPECT(tile.shfl_down(mine, 2) == (rank + 2 < Size ? mine + 6 : mine));
    EXPECT(tile.shfl_xor(mine, Size / 2) == (base + (int)(rank ^ Size / 2)) * 3);
    const wide w = {1.5 * rank, 2, 3, mine};
    const wide last = tile.shfl(w, Size - 1);
    EXPECT(last.a == 1.5 * (Size - 1) && last.c == 3 && last.d == (base + Size - 1) * 3);
    EXPECT(tile.ballot(rank % 2 == 0) == (0x55555555 & all));
    EXPECT(tile.any(rank == Size - 1) && !tile.any(0) && tile.all(1) && !tile.all(rank + 1 != Size));
    EXPECT(tile.match_any((int)rank / 4) == (0xfu << rank / 4 * 4 & all));
    int same;
    EXPECT(tile.match_all(7.0f, same) == all && same);
    EXPECT(tile.match_all((long long)rank, same) == (Size == 1 ? 1u : 0u) && same == (Size == 1));
    EXPECT(cg::reduce(tile, (int)rank + 1, cg::plus<int>()) == Size * (Size + 1) / 2);
    EXPECT(cg::reduce(tile, -(int)rank, cg::less<int>()) == -(Size - 1));
    EXPECT(cg::reduce(tile, rank + 5u, cg::greater<unsigned>()) == Size + 4);
    EXPECT(cg::reduce(tile, 1u << rank, cg::bit_or<unsigned>()) == all);
    EXPECT(cg::reduce(tile, ~(1u << rank), cg::bit_and<unsigned>()) == ~all);
    EXPECT(cg::reduce(tile, 3, cg::bit_xor<int>()) == (Size == 1 ? 3 : 0));
    EXPECT(cg::reduce(tile, 0.5, cg::plus<double>()) == Size / 2.0);
    EXPECT(cg::reduce(tile, (long long)rank, cg::greater<long long>()) == Size - 1);
    EXPECT(cg::reduce(tile, (float)rank, [](float a, float b) { return a > b ? a : b; }) == Size - 1);
    EXPECT(cg::inclusive_scan(tile, 2) == 2 * (int)(rank + 1));
    EXPECT(cg::exclusive_scan(tile, (int)rank) == (int)(rank * (rank - 1) / 2));
    EXPECT(cg::inclusive_scan(tile, (int)rank, cg::greater<int>()) == (int)rank);
    EXPECT(cg::exclusive_scan(tile, (int)rank + 1, cg::greater<int>()) == (int)rank);
    EXPECT(cg::exclusive_scan(tile, 0.25f) == 0.25f * rank);
    tile.sync();
    cg::sync(tile);
}

#pragma cf kernel blocks(3) block(bx, by, bz) inout(wrong[2]) check(bx * by * bz % 32 == 0)
__global__ void tiles(int bx, int by, int bz, int *wrong)
{
    auto block = cg::this_thread_block();
    check_tile<1>(block, wrong);
    check_tile<2>(block, wrong);
    check_tile<4>(block, wrong);
    check_tile<8>(block, wrong);
    check_tile<16>(block, wrong);
    check_tile<32>(block, wrong);
    auto warp = cg::tiled_partition<32>(block);
    auto quarter = cg::tiled_partition<8>(warp);
    EXPECT(quarter.meta_group_rank() == block_rank() % 32 / 8 && quarter.meta_group_size() == 4);
    EXPECT(cg::this_thread().size() == 1 && cg::this_thread().thread_rank() == 0);
    EXPECT_END;
}

/* Groups whose size is known only at run time, in a block of any size. */
#pragma cf kernel blocks(2) block(bx, by, bz) inout(wrong[2])
__global__ void partitions(int bx, int by, int bz, int *wrong)
{
    auto block = cg::this_thread_block();
    const unsigned rank = block_rank(), threads = block.size();
    for (unsigned size = 1; size <= 32; size *= 2) {
        cg::thread_group tile = cg::tiled_partition(block, size);
        const unsigned first = rank / size * size;
        EXPECT(tile.thread_rank() == rank - first);
        EXPECT(tile.size() == (threads - first < size ? threads - first : size));
        tile.sync();
        if (size >= 4) {
            cg::thread_group part = cg::tiled_partition(tile, size / 2);
            EXPECT(part.thread_rank() == rank % (size / 2));
            part.sync();
        }
    }
    cg::thread_group any = block;
    EXPECT(any.size() == threads && any.thread_rank() == rank);
    any.sync();
    block.barrier_wait(block.barrier_arrive());
    EXPECT_END;
}

/* Each thread reads what the next thread of its group wrote. Used for every kind of group that can wait. */
template <typename Group> __device__ void pass_on(const Group &group, int *cells, int first, int *wrong)
{
    const int next = first + (group.thread_rank() + 1) % group.size();
    for (int round = 1; round <= 3; round++) {
        cells[first + group.thread_rank()] = round * 1000 + first + group.thread_rank();
        group.sync();
        EXPECT(cells[next] == round * 1000 + next);
        group.sync();
    }
}

#pragma cf kernel blocks(n) block(128) inout(wrong[2])
__global__ void syncs(int n, int *wrong)
{
    __shared__ int cells[128];
    auto block = cg::this_thread_block();
    const int rank = block_rank();
    pass_on(block, cells, 0, wrong);
    pass_on(cg::tiled_partition<32>(block), cells, rank / 32 * 32, wrong);
    pass_on(cg::tiled_partition<4>(block), cells, rank / 4 * 4, wrong);
    pass_on(cg::tiled_partition(block, 16), cells, rank / 16 * 16, wrong);
    if (rank % 32 < 20)
        pass_on(cg::coalesced_threads(), cells, rank / 32 * 32, wrong);
    block.sync();
    cells[rank] = rank;
    __syncwarp();
    EXPECT(cells[rank ^ 31] == (rank ^ 31));
    EXPECT_END;
}

/* Groups of the lanes that have taken a branch. */
#pragma cf kernel blocks(2) block(n) inout(wrong[2])
__global__ void coalesced(int n, int *wrong)
{
    const unsigned rank = threadIdx.x, lane = rank % 32;
    const unsigned lanes = n - (rank - lane) < 32 ? (1u << (n - (rank - lane)) % 32) - 1 : 0xffffffff;
    if (lane % 3 == 1) {
        auto group = cg::coalesced_threads();
        const int size = __popc(0x92492492 & lanes), own = lane / 3;
        EXPECT((int)group.size() == size && (int)group.thread_rank() == own && (int)group.num_threads() == size);
        EXPECT(group.shfl(rank, 0) == rank - lane + 1);
        EXPECT(group.shfl(rank, size - 1) == rank - lane + 1 + 3 * (size - 1));
        EXPECT(group.shfl_up(rank, 1) == (own ? rank - 3 : rank));
        EXPECT(group.shfl_down(rank, 2) == (own + 2 < size ? rank + 6 : rank));
        EXPECT(group.ballot(own % 2) == (0xaaaaaaaau & ((1u << size) - 1)));
        EXPECT(group.any(own == 0) && group.all(1) && !group.any(0) && !group.all(own));
        EXPECT(group.match_any(own / 2) == (3u << own / 2 * 2 & ((1u << size) - 1)));
        int same;
        EXPECT(group.match_all(own, same) == (size == 1 ? 1u : 0u) && same == (size == 1));
        EXPECT(cg::reduce(group, own, cg::plus<int>()) == size * (size - 1) / 2);
        EXPECT(cg::reduce(group, 0.5f, cg::plus<float>()) == 0.5f * size);
        EXPECT(cg::inclusive_scan(group, 1) == own + 1 && cg::exclusive_scan(group, 1.0) == own);
        auto pair = cg::tiled_partition(group, 2);
        EXPECT((int)pair.thread_rank() == own % 2 && (int)pair.meta_group_rank() == (size > 2 ? own / 2 : 0));
        auto part = cg::binary_partition(group, own < 2);
        EXPECT((int)part.size() == (own < 2 ? (size < 2 ? size : 2) : size - 2));
        EXPECT((int)part.thread_rank() == (own < 2 ? own : own - 2));
        group.sync();
    }
    if (n % 32 == 0) {
        auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        auto labels = cg::labeled_partition(warp, (int)lane % 5 + 100);
        EXPECT(labels.size() == (lane % 5 < 2 ? 7 : 6) && labels.thread_rank() == lane / 5);
        EXPECT(labels.meta_group_rank() == lane % 5 && labels.meta_group_size() == 5);
        EXPECT(labels.shfl(lane, 1) == lane % 5 + 5);
        auto half = cg::binary_partition(warp, lane >= 20);
        EXPECT(half.meta_group_rank() == (lane >= 20) && half.meta_group_size() == 2);
        EXPECT(half.size() == (lane >= 20 ? 12 : 20));
    }
    EXPECT_END;
}

__device__ int elected;

/* invoke_one() runs on one thread of a group; other functions add results of a group to atomic objects. */
#pragma cf kernel blocks(1) block(n) inout(wrong[2], sums[4]) check(n % 32 == 0)
__global__ void elections(int n, int *sums, int *wrong)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::invoke_one(warp, [&] { atomicAdd(&sums[0], 1); });
    EXPECT(cg::invoke_one_broadcast(warp, [&] { return 7; }) == 7);
    cuda::atomic_ref<int, cuda::thread_scope_device> total(sums[1]), most(sums[2]), scanned(sums[3]);
    cg::reduce_update_async(warp, total, (int)threadIdx.x, cg::plus<int>());
    cg::reduce_update_async(warp, most, (int)threadIdx.x, cg::greater<int>());
    const int before = cg::exclusive_scan_update(warp, scanned, 1);
    EXPECT(before % 32 == (int)warp.thread_rank() && before < n);
    EXPECT_END;
}

/* Asynchronous copies of rows of 96 numbers to shared memory. */
#pragma cf kernel blocks(rows) block(64) in(x[rows][96]) out(y[rows][96]) inout(wrong[2])
__global__ void copies(int rows, const float *x, float *y, int *wrong)
{
    __shared__ alignas(16) float row[96];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, row, x + blockIdx.x * 96, sizeof(float) * 96);
    cg::wait(block);
    EXPECT(row[95 - threadIdx.x] == x[blockIdx.x * 96 + 95 - threadIdx.x]);
    for (int i = threadIdx.x; i < 96; i += 64)
        y[blockIdx.x * 96 + i] = row[95 - i];
    block.sync();
    auto warp = cg::tiled_partition<32>(block);
    if (warp.meta_group_rank() == 0) {
        cg::memcpy_async(warp, row, 8, x + blockIdx.x * 96, 96);
        cg::wait_prior<0>(warp);
        EXPECT(row[7 - warp.thread_rank() % 8] == x[blockIdx.x * 96 + 7 - warp.thread_rank() % 8]);
    }
    EXPECT_END;
}

/* Sums each block, then all blocks. */
#pragma cf kernel blocks(n / 64) block(64) cooperative inout(x[n]) scratch(sums[n / 64]) inout(wrong[2])
__global__ void grid_sums(int n, int *x, int *sums, int *wrong)
{
    using namespace cooperative_groups;
    grid_group grid = this_grid();
    EXPECT(grid.is_valid());
    auto warp = tiled_partition<32>(this_thread_block());
    if (threadIdx.x == 0)
        sums[blockIdx.x] = 0;
    sync(this_thread_block());
    const int sum = reduce(warp, x[grid.thread_rank()], plus<int>());
    if (warp.thread_rank() == 0)
        atomicAdd(&sums[blockIdx.x], sum);
    grid.sync();
    int all = 0;
    for (unsigned b = 0; b < grid.num_blocks(); b++)
        all += sums[b];
    x[grid.thread_rank()] = all;
    sync(grid);
    EXPECT(x[(grid.thread_rank() + 64) % n] == all);
    EXPECT_END;
}

#pragma cf kernel blocks(2) block(32) inout(wrong[2])
__global__ void grid_that_is_not_resident(int sync, int *wrong)
{
    auto grid = cg::this_grid();
#ifndef __CUDA_ARCH__
    EXPECT(!grid.is_valid()); // a GPU's driver may report it as valid
#endif
    if (sync)
        grid.sync();
    EXPECT_END;
}

/* A size that no tile can have. */
#pragma cf kernel blocks(1) block(32) inout(wrong[2])
__global__ void wrong_tile(int size, int *wrong)
{
    cg::tiled_partition(cg::this_thread_block(), size).sync();
    EXPECT_END;
}
