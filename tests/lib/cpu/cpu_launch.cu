// cpu_launch.cu - kernels for test_cpu_launch.c: they record the order in which threads run, or fail.
#include <cooperative_groups.h>
#include <stdint.h>

#pragma cf kernel blocks(blocks) block(threads) inout(order[blocks * threads], count[1])
__global__ void order_of_loop(int *order, int *count, int blocks, int threads)
{
    order[atomicAdd(count, 1)] = blockIdx.x * threads + threadIdx.x;
}

#pragma cf kernel blocks(blocks) block(threads) inout(order[blocks * threads], count[1])
__global__ void order_after_barrier(int *order, int *count, int blocks, int threads)
{
    __syncthreads();
    order[atomicAdd(count, 1)] = blockIdx.x * threads + threadIdx.x;
}

#pragma cf kernel blocks(blocks) block(threads) inout(order[blocks * threads], count[1])
__global__ void order_after_shuffle(int *order, int *count, int blocks, int threads)
{
    int x = __shfl_xor_sync(0xffffffff, (int)threadIdx.x, 1);
    order[atomicAdd(count, 1)] = blockIdx.x * threads + threadIdx.x + 0 * x;
}

#pragma cf kernel blocks(blocks) block(threads) inout(order[blocks * threads], count[1]) cooperative
__global__ void order_after_grid(int *order, int *count, int blocks, int threads)
{
    cooperative_groups::this_grid().sync();
    order[atomicAdd(count, 1)] = blockIdx.x * threads + threadIdx.x;
}

#pragma cf kernel blocks(blocks) block(threads) inout(order[blocks * threads], count[1])
__global__ void __cluster_dims__(4) order_after_cluster(int *order, int *count, int blocks, int threads)
{
    const auto cluster = cooperative_groups::this_cluster();
    cluster.barrier_arrive();
    cluster.barrier_wait();
    cluster.sync();
    order[atomicAdd(count, 1)] = blockIdx.x * threads + threadIdx.x;
}

#pragma cf kernel blocks((n + 255) / 256) block(256) in(x[n]) out(sums[(n + 255) / 256])
__global__ void sums(const float *x, float *sums, int n)
{
    __shared__ float part[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0;
    for (int distance = 16; distance; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    for (int stride = 4; stride; stride /= 2) {
        if ((int)threadIdx.x < stride)
            part[threadIdx.x] += part[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void check(int *x, int limit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    assert(x[i] < limit);
    x[i]++;
}
