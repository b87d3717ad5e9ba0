// waiting.cu - kernels that only wait, for waiting.c. The generator splits the first two at their waits; in the others,
// each thread is a fiber.
#include <cooperative_groups.h>
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init

#pragma cf kernel blocks(blocks) block(size) out(ended[blocks])
__global__ void barriers(int *ended, int blocks, int size, int rounds)
{
    for (int i = 0; i < rounds; i++)
        __syncthreads();
    if (threadIdx.x == 0)
        ended[blockIdx.x] = rounds;
}

#pragma cf kernel blocks(blocks) block(size) out(ended[blocks])
__global__ void shuffles(int *ended, int blocks, int size, int rounds)
{
    int x = 0;
    for (int i = 0; i < rounds; i++)
        x = __shfl_xor_sync(0xffffffff, x + 1, i % 32);
    if (threadIdx.x == 0)
        ended[blockIdx.x] = x;
}

#pragma cf kernel blocks(blocks) block(size) out(ended[blocks])
__global__ void memory_barriers(int *ended, int blocks, int size, int rounds)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0)
        init(&barrier, size);
    __syncthreads();
    for (int i = 0; i < rounds; i++)
        barrier.arrive_and_wait();
    if (threadIdx.x == 0)
        ended[blockIdx.x] = rounds;
}

#pragma cf kernel blocks(blocks) block(size) out(ended[blocks])
__global__ void tile_barriers(int *ended, int blocks, int size, int rounds)
{
    auto block = cooperative_groups::this_thread_block();
    auto warp = cooperative_groups::tiled_partition<32>(block);
    auto tile = cooperative_groups::tiled_partition<256>(block);
    for (int i = 0; i < rounds; i++)
        if (size < 256)
            warp.sync();
        else
            tile.sync();
    if (threadIdx.x == 0)
        ended[blockIdx.x] = rounds;
}
