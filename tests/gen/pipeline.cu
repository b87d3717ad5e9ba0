/* pipeline.cu - cuda::pipeline of a thread and of a block, and copies that a pipeline tracks, for test_pipeline.c. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda/std/chrono>
#include <cuda_pipeline.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

enum { THREADS = 64 };

/* ---- One thread ---- */

/* Each thread copies its numbers in batches; two batches are in flight at a time. */
#pragma cf kernel grid(64) block(64) in(x[64 * batches]) out(y[64 * batches])
__global__ void thread_scope(const int *x, int *y, int batches)
{
    __shared__ int tile[3][THREADS];
    const int t = threadIdx.x;
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int fetched = 0, b = 0; b < batches; b++) {
        for (; fetched < batches && fetched < b + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[fetched % 3][t], &x[fetched * THREADS + t], sizeof(int), pipe);
            pipe.producer_commit();
        }
        if (b % 2)
            pipe.consumer_wait();
        else if (b + 1 < batches)
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        else
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        y[b * THREADS + t] = 3 * tile[b % 3][t];
        pipe.consumer_release();
    }
    if (!pipe.quit())
        y[t] = -1;
}

/* Each form of a copy moves 16 numbers. */
#pragma cf kernel grid(32) block(32) in(x[6 * 16]) inout(y[6 * 16])
__global__ void forms(const int *x, int *y)
{
    __shared__ alignas(16) int tile[6][16];
    const cg::thread_block block = cg::this_thread_block();
    const cuda::aligned_size_t<16> all(sizeof tile[0]);
    const int t = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    if (t == 0) {
        cuda::memcpy_async(tile[0], x, all, pipe);
        cuda::memcpy_async(static_cast<void *>(tile[1]), static_cast<const void *>(x + 16), sizeof tile[1], pipe);
    }
    cuda::memcpy_async(block, tile[2], x + 32, sizeof tile[2], pipe);
    cuda::memcpy_async(block, tile[3], x + 48, all, pipe);
    cuda::memcpy_async(block, static_cast<void *>(tile[4]), static_cast<const void *>(x + 64), sizeof tile[4], pipe);
    cuda::memcpy_async(block, static_cast<void *>(tile[5]), static_cast<const void *>(x + 80), all, pipe);
    pipe.producer_commit();
    if (!pipe.consumer_wait_for(cuda::std::chrono::seconds(600)))
        return;
    __syncthreads();
    for (int i = t; i < 6 * 16; i += 32)
        y[i] += tile[i / 16][i % 16];
    pipe.consumer_release();
}

/* A barrier tracks the copies of a thread's pipeline. */
#pragma cf kernel grid(64) block(64) in(x[64])out(y[64])
__global__ void commits_to_barrier(const int *x, int *y)
{
    __shared__ int tile[THREADS];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    const int t = threadIdx.x;
    if (t == 0)
        init(&bar, THREADS);
    __syncthreads();
    auto pipe = cuda::make_pipeline();
    cuda::memcpy_async(&tile[t], &x[t], sizeof(int), pipe);
    cuda::pipeline_producer_commit(pipe, bar);
    bar.arrive_and_wait();
    y[t] = tile[THREADS - 1 - t];
}

/* Uses the functions of C, which write zeros after the last element. */
#pragma cf kernel grid(64) block(64) in(x[n])out(y[64 * 4])
__global__ void primitives(const int *x, int n, int *y)
{
    __shared__ int4 tile[THREADS];
    const int t = threadIdx.x, there = max(0, min(4, n - 4 * t));
    __pipeline_memcpy_async(&tile[t], &x[there ? 4 * t : 0], 16, 16 - there * sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const int4 v = tile[THREADS - 1 - t];
    y[4 * t] = v.x, y[4 * t + 1] = v.y, y[4 * t + 2] = v.z, y[4 * t + 3] = v.w;
}

/* ---- A block ---- */

/* All threads produce and consume; each thread reads the number of the next one. */
#pragma cf kernel blocks(blocks) block(64) in(x[blocks * 64 * batches]) out(y[blocks * 64 * batches])
#pragma cf instances(one : 1; two : 2; four : 4)
template <int STAGES> __global__ void unified(const int *x, int *y, int batches, int blocks)
{
    __shared__ int tile[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    auto pipe = cuda::make_pipeline(block, &state);
    x += (size_t)blockIdx.x * THREADS * batches;
    y += (size_t)blockIdx.x * THREADS * batches;
    for (int fetched = 0, b = 0; b < batches; b++) {
        for (; fetched < batches && fetched < b + STAGES; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[fetched % STAGES], x + fetched * THREADS,
                               cuda::aligned_size_t<16>(sizeof tile[0]), pipe);
            pipe.producer_commit();
        }
        while (!pipe.consumer_wait_for(cuda::std::chrono::microseconds(1)))
            continue;
        y[b * THREADS + t] = 5 * tile[b % STAGES][(t + 1) % THREADS];
        pipe.consumer_release();
    }
}

template <bool IS_SQUARED> __device__ int change(int v)
{
    return IS_SQUARED ? v * v : v + 1;
}

/* One warp produces, which is declared in one of two ways; the others consume. `last` counts threads that quit last. */
#pragma cf kernel blocks(1) block(128) in(x[96 * batches]) out(y[96 * batches]) inout(last[1])
#pragma cf instances(count : false; role : true)
template <bool BY_ROLE> __global__ void partitioned(const int *x, int *y, int batches, int *last)
{
    __shared__ int tile[2][96];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    const bool is_producer = t < 32;
    const auto role = is_producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    cuda::pipeline<cuda::thread_scope_block> pipe =
        BY_ROLE ? cuda::make_pipeline(block, &state, role) : cuda::make_pipeline(block, &state, 32);
    for (int b = 0; b < batches; b++) {
        if (is_producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(cg::tiled_partition<32>(block), tile[b % 2], x + b * 96, sizeof tile[0], pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            y[b * 96 + t - 32] = change<BY_ROLE>(tile[b % 2][127 - t]);
            pipe.consumer_release();
        }
    }
    if (pipe.quit())
        atomicAdd(last, 1);
}

/* ---- Copies of a group ---- */

#pragma cf kernel grid(64) block(64) in(x[64 * batches]) out(y[64 * batches])
__global__ void group_copies(const int *x, int *y, int batches)
{
    __shared__ int tile[2][THREADS];
    const auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    cg::memcpy_async(block, tile[0], x, cuda::aligned_size_t<16>(sizeof tile[0]));
    for (int b = 0; b < batches; b++) {
        if (b + 1 < batches) {
            cg::memcpy_async(block, tile[(b + 1) % 2], THREADS, x + (b + 1) * THREADS, THREADS);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        y[b * THREADS + t] = tile[b % 2][THREADS - 1 - t];
        block.sync();
    }
}

/* ---- Mistakes, for the CPU ---- */

/* The first `filling` threads produce and the last 32 consume, contrary to `producers` in some calls. */
#pragma cf kernel blocks(1) block(64) out(y[64])
__global__ void mistake(int producers, int filling, int *y)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    const int t = threadIdx.x;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, producers);
    if (t < filling) {
        pipe.producer_acquire();
        pipe.producer_commit();
    }
    if (t >= 32) {
        pipe.consumer_wait();
        pipe.consumer_release();
    }
    y[t] = t;
}
