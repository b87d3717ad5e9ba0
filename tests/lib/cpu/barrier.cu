/* barrier.cu - kernels for test_barrier.c: cuda::barrier in shared and device memory, and tiles of several warps. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/barrier>
#include <new>
#include <stdint.h>

#include "expect_kernel.h"

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

static __device__ unsigned rank_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/* ---- cuda::barrier ---- */

/* Each thread reads the cell that the next thread has written. */
#pragma cf kernel blocks(n) block(threads) shared(2 * threads * sizeof(int)) inout(wrong[2])
__global__ void pass_on(int n, int threads, int rounds, int *wrong)
{
    __shared__ block_barrier barrier;
    extern __shared__ int cells[];
    const int own = threadIdx.x, next = (own + 1) % threads;
    if (own == 0)
        init(&barrier, threads);
    __syncthreads();
    for (int round = 0; round < rounds; round++) {
        int *now = cells + round % 2 * threads;
        now[own] = round * 1000 + own;
        barrier.arrive_and_wait();
        EXPECT(now[next] == round * 1000 + next);
    }
    EXPECT_END;
}

/* Groups of threads wait alternately at their own barriers and at one barrier for all. `apart` is the distance
 * between the barriers of two groups. Threads arrive in different orders, and some wait for their warp
 * first. */
#pragma cf kernel blocks(n) block(256) inout(wrong[2]) check(1 <= groups <= 4) check(0 <= apart <= 64)
__global__ void mingle(int n, int groups, int apart, int rounds, int *wrong)
{
    __shared__ block_barrier barriers[4 * 64 + 2];
    __shared__ int arrived[5];
    const int own = threadIdx.x, group = own % groups;
    block_barrier &mine = barriers[group * apart + group % 2], &all = barriers[4 * 64 + 1];
    const int members = (256 - group + groups - 1) / groups;
    if (own < groups)
        init(&barriers[own * apart + own % 2], (256 - own + groups - 1) / groups);
    if (own == 0)
        init(&all, 256);
    if (own < 5)
        arrived[own] = 0;
    __syncthreads();
    for (int round = 1; round <= rounds; round++) {
        if (round % 3 == 0 && own % 5 < 2)
            __nanosleep(0);
        if (round % 4 == 0)
            __syncwarp();
        atomicAdd(&arrived[group], 1);
        mine.arrive_and_wait();
        EXPECT(atomicAdd(&arrived[group], 0) >= round * members);
        if (round % 2) {
            atomicAdd(&arrived[4], 1);
            all.arrive_and_wait();
            EXPECT(atomicAdd(&arrived[4], 0) >= (round + 1) / 2 * 256);
        }
    }
    EXPECT_END;
}

/* One warp produces and the others consume. Neither side waits for the whole block, and __syncthreads() works after
 * these waits. */
#pragma cf kernel blocks(n) block(128) inout(wrong[2])
__global__ void produce(int n, int rounds, int *wrong)
{
    __shared__ block_barrier full[2], empty[2];
    __shared__ int cells[2][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 2) {
        init(full + threadIdx.x, 32 + 96);
        init(empty + threadIdx.x, 32 + 96);
    }
    __syncthreads();
    if (warp == 0) {
        for (int i = 0; i < rounds; i++) {
            empty[i % 2].arrive_and_wait();
            cells[i % 2][lane] = i * 32 + lane;
            (void)full[i % 2].arrive();
        }
    } else {
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        for (int i = 0; i < rounds; i++) {
            full[i % 2].arrive_and_wait();
            EXPECT(cells[i % 2][31 - lane] == i * 32 + 31 - lane);
            (void)empty[i % 2].arrive();
        }
    }
    EXPECT(__syncthreads_count(warp == 0) == 32);
    EXPECT_END;
}

/* Tests arrivals with a count above 1, waits by phase parity, try_wait, and barriers that are constructed in place. */
#pragma cf kernel blocks(1) block(threads) inout(wrong[2])
__global__ void phases(int threads, int *wrong)
{
    __shared__ alignas(block_barrier) char memory[sizeof(block_barrier)];
    __shared__ int done;
    block_barrier *barrier = reinterpret_cast<block_barrier *>(memory);
    if (threadIdx.x == 0) {
        new (barrier) block_barrier(3);
        done = 0;
    }
    EXPECT(block_barrier::max() == (1 << 20) - 1);
    EXPECT(sizeof(block_barrier) == 8);
    __syncthreads();
    if (threadIdx.x == threads - 1) {
        EXPECT(!barrier->try_wait_parity_for(false, cuda::std::chrono::nanoseconds(0)));
        EXPECT(barrier->try_wait_parity_for(true, cuda::std::chrono::nanoseconds(0)));
        done = 1;
        block_barrier::arrival_token token = barrier->arrive(2);
        EXPECT(!barrier->try_wait_for(static_cast<block_barrier::arrival_token &&>(token),
                                      cuda::std::chrono::nanoseconds(10)));
        token = barrier->arrive();
        EXPECT(barrier->try_wait_for(static_cast<block_barrier::arrival_token &&>(token),
                                     cuda::std::chrono::nanoseconds(0)));
    } else {
        barrier->wait_parity(false);
        EXPECT(done == 1);
    }
    __syncthreads();
    /* In the second phase the other threads poll until thread 0 comes. */
    if (threadIdx.x == 0) {
        done = 2;
        (void)barrier->arrive(3);
    } else {
        while (!barrier->try_wait_parity_for(true, cuda::std::chrono::nanoseconds(100)))
            ;
        EXPECT(done == 2);
    }
    EXPECT_END;
}

/* One thread drops out of the barrier in each round; the others continue without it. */
#pragma cf kernel blocks(n) block(threads) out(rounds[n][threads])
__global__ void drop(int n, int threads, int *rounds)
{
    __shared__ block_barrier barrier;
    if (threadIdx.x == 0)
        init(&barrier, threads);
    __syncthreads();
    int round = 0;
    for (; round < threadIdx.x * 37 % threads; round++)
        barrier.arrive_and_wait();
    rounds[blockIdx.x * threads + threadIdx.x] = round;
    barrier.arrive_and_drop();
}

struct count_phases {
    int *phases;

    __device__ void operator()() const noexcept
    {
        ++*phases;
    }
};

/* The completion function runs before any thread continues. */
#pragma cf kernel blocks(n) block(64) inout(wrong[2])
__global__ void complete(int n, int *wrong)
{
    __shared__ int phases;
    __shared__ cuda::barrier<cuda::thread_scope_block, count_phases> barrier;
    __shared__ alignas(cuda::std::barrier<>) char memory[sizeof(cuda::std::barrier<>)];
    auto &plain = *reinterpret_cast<cuda::std::barrier<> *>(memory);
    if (threadIdx.x == 0) {
        phases = 0;
        new (&barrier) cuda::barrier<cuda::thread_scope_block, count_phases>(64, count_phases{&phases});
        new (&plain) cuda::std::barrier<>(64);
    }
    __syncthreads();
    for (int i = 1; i <= 5; i++) {
        barrier.arrive_and_wait();
        EXPECT(phases == i);
        plain.arrive_and_wait();
    }
    EXPECT_END;
}

/* The phase of a barrier waits for asynchronous copies. */
#pragma cf kernel blocks(n) block(96) in(x[n][200]) out(y[n][200]) inout(wrong[2])
__global__ void copy(const int *x, int n, int *y, int *wrong)
{
    __shared__ block_barrier barrier;
    __shared__ alignas(16) int tile[200];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, x + blockIdx.x * 200, sizeof(int) * 100, barrier);
    if (threadIdx.x < 50)
        cuda::memcpy_async(tile + 100 + threadIdx.x, x + blockIdx.x * 200 + 100 + threadIdx.x, sizeof(int), barrier);
    if (threadIdx.x == 95)
        cuda::memcpy_async(tile + 150, x + blockIdx.x * 200 + 150, cuda::aligned_size_t<4>(sizeof(int) * 50), barrier);
    barrier.arrive_and_wait();
    for (int i = threadIdx.x; i < 200; i += 96)
        y[blockIdx.x * 200 + i] = tile[199 - i];
    EXPECT_END;
}

/* ---- Between blocks ---- */

#pragma cf kernel blocks(1) block(1) inout(barrier[1])
__global__ void make_wide(uint64_t *barrier, int expected)
{
    new (barrier) cuda::barrier<cuda::thread_scope_device>(expected);
}

/* One thread of each block arrives on behalf of the block; the next block reads the cells. */
#pragma cf kernel blocks(n) block(threads) cooperative inout(barrier[1]) inout(cells[n]) inout(wrong[2])
__global__ void wide(uint64_t *barrier, int *cells, int n, int threads, int rounds, int *wrong)
{
    auto &shared = *reinterpret_cast<cuda::barrier<cuda::thread_scope_device> *>(barrier);
    for (int round = 1; round <= rounds; round++) {
        if (threadIdx.x == 0) {
            cells[blockIdx.x] = round * 1000 + blockIdx.x;
            shared.arrive_and_wait();
        }
        __syncthreads();
        const int next = (blockIdx.x + 1) % n;
        EXPECT(cells[next] == round * 1000 + next);
        __syncthreads();
        if (threadIdx.x == threads - 1)
            shared.arrive_and_wait();
        __syncthreads();
    }
    EXPECT_END;
}

/* The first block's first thread waits for the last block; its last thread polls for the first thread's next write. */
#pragma cf kernel blocks(n) block(threads) cooperative inout(barrier[1]) inout(flags[2])
__global__ void polled(uint64_t *barrier, int *flags, int n, int threads)
{
    auto &shared = *reinterpret_cast<cuda::barrier<cuda::thread_scope_device> *>(barrier);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        shared.arrive_and_wait();
        atomicExch(&flags[1], 1);
    } else if (blockIdx.x == 0 && threadIdx.x == threads - 1) {
        atomicExch(&flags[0], 1);
        while (atomicAdd(&flags[1], 0) == 0)
            __nanosleep(0);
    } else if (blockIdx.x == n - 1 && threadIdx.x == 0) {
        while (atomicAdd(&flags[0], 0) == 0)
            __nanosleep(0);
        (void)shared.arrive();
    }
}

/* ---- Errors ---- */

#pragma cf kernel blocks(2) block(64) inout(wrong[2])
__global__ void lacks(int expected, int *wrong)
{
    __shared__ block_barrier barrier;
    if (threadIdx.x == 0)
        init(&barrier, expected);
    __syncthreads();
    if (threadIdx.x < 60)
        barrier.arrive_and_wait();
    EXPECT_END;
}

#pragma cf kernel blocks(1) block(64) inout(wrong[2])
__global__ void divided(int *wrong)
{
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    if (threadIdx.x != 5)
        tile.sync();
    else
        __syncthreads();
    EXPECT_END;
}

/* ---- Tiles of several warps ---- */


template <int Size, typename Parent> __device__ void check_tile(const Parent &block, int *wrong)
{
    auto tile = cg::tiled_partition<Size>(block);
    const int rank = rank_in_block() % Size, base = rank_in_block() - rank;
    EXPECT(tile.thread_rank() == rank && tile.size() == Size && tile.num_threads() == Size);
    EXPECT(tile.meta_group_size() == block.size() / Size);
    EXPECT(tile.meta_group_rank() == block.thread_rank() / Size);
    for (int from = 0; from < Size; from += 13)
        EXPECT(tile.shfl(3 * (int)rank_in_block(), from) == 3 * (base + from));
    EXPECT(tile.shfl(0.5 * rank_in_block(), Size - 1) == 0.5 * (base + Size - 1));
    EXPECT(tile.any(rank == Size - 1) && !tile.any(0) && tile.all(1) && !tile.all(rank != 40));
    EXPECT(cg::reduce(tile, rank + 1, cg::plus<int>()) == Size * (Size + 1) / 2);
    EXPECT(cg::reduce(tile, -rank, cg::less<int>()) == 1 - Size);
    EXPECT(cg::reduce(tile, rank + 5u, cg::greater<unsigned>()) == Size + 4);
    EXPECT(cg::reduce(tile, 1ull << rank % 64, cg::bit_or<unsigned long long>()) == ~0ull);
    EXPECT(cg::reduce(tile, 0.25, cg::plus<double>()) == Size / 4.0);
    EXPECT(cg::reduce(tile, (float)rank, [](float a, float b) { return a > b ? a : b; }) == Size - 1);
    EXPECT(cg::inclusive_scan(tile, 2) == 2 * (rank + 1));
    EXPECT(cg::exclusive_scan(tile, rank) == rank * (rank - 1) / 2);
    EXPECT(cg::inclusive_scan(tile, rank, cg::greater<int>()) == rank);
    EXPECT(cg::exclusive_scan(tile, rank + 1, cg::greater<int>()) == rank);
    EXPECT(cg::exclusive_scan(tile, 0.25f) == 0.25f * rank);
    EXPECT(cg::invoke_one_broadcast(tile, [=] { return base + 7; }) == base + 7);
    tile.sync();
    cg::sync(tile);
}

#pragma cf kernel blocks(2) block(bx, by, bz) inout(wrong[2]) check(bx * by * bz == 1024)
__global__ void tiles(int bx, int by, int bz, int *wrong)
{
    __shared__ cg::block_tile_memory<1024> memory;
    auto block = cg::this_thread_block(memory);
    check_tile<64>(block, wrong);
    check_tile<128>(block, wrong);
    check_tile<256>(block, wrong);
    check_tile<512>(block, wrong);
    check_tile<64>(cg::tiled_partition<256>(block), wrong);
    check_tile<128>(cg::tiled_partition<512>(block), wrong);
    auto half = cg::tiled_partition<512>(block);
    auto warp = cg::tiled_partition<32>(half);
    EXPECT(warp.meta_group_rank() == half.thread_rank() / 32 && warp.meta_group_size() == 16);
    cg::thread_block_tile<512> plain = half;
    EXPECT(plain.meta_group_rank() == half.meta_group_rank() && plain.meta_group_size() == 2);
    EXPECT_END;
}

/* Each tile runs its loop a different number of times, independently of the others. */
#pragma cf kernel blocks(n) block(512) inout(wrong[2])
__global__ void own_ways(int n, int *wrong)
{
    __shared__ int cells[512];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    const int first = threadIdx.x / 64 * 64, next = first + (tile.thread_rank() + 1) % 64;
    for (int round = 0; round <= tile.meta_group_rank(); round++) {
        cells[threadIdx.x] = round * 1000 + threadIdx.x;
        tile.sync();
        EXPECT(cells[next] == round * 1000 + next);
        EXPECT(cg::reduce(tile, 1, cg::plus<int>()) == 64);
    }
    EXPECT_END;
}

/* Each tile adds to a sum in memory with exclusive_scan_update(), and so reserves a range of its own. */
#pragma cf kernel blocks(n) block(256) inout(total[2]) out(ranks[256 * n]) inout(wrong[2])
__global__ void ranges(int n, int *total, int *ranks, int *wrong)
{
    auto tile = cg::tiled_partition<128>(cg::this_thread_block());
    cuda::atomic_ref<int, cuda::thread_scope_device> one(total[0]), other(total[1]);
    const int own = cg::exclusive_scan_update(tile, one, 1, cg::plus<int>());
    ranks[own] = 1;
    const int with = cg::inclusive_scan_update(tile, other, 2, cg::plus<int>());
    EXPECT(with - 2 * (int)(tile.thread_rank() + 1) == tile.shfl(with - 2, 0));
    EXPECT_END;
}

#pragma cf kernel blocks(n) block(128) out(sums[n]) inout(total[1])
__global__ void stores(int n, int *sums, int *total)
{
    auto tile = cg::tiled_partition<128>(cg::this_thread_block());
    cuda::atomic_ref<int, cuda::thread_scope_device> all(*total);
    cg::reduce_store_async(tile, sums + blockIdx.x, (int)threadIdx.x, cg::plus<int>());
    cg::reduce_update_async(tile, all, 1, cg::plus<int>());
}
