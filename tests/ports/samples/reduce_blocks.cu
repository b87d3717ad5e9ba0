/* reduce_blocks.cu - sums over blocks, in shared memory of the element's type and then by shuffles in one warp. */
#include <cooperative_groups.h>

#include "common/gpu_check.h"
#include "common/shared_memory.cuh"

namespace cg = cooperative_groups;

bool isPow2(unsigned int x)
{
    return ((x & (x - 1)) == 0);
}

#pragma cf kernel blocks(blocks) block(blockSize) shared(blockSize * sizeof(T)) in(g_idata[n]) \
    out(g_odata[blocks]) param(unsigned blocks) tolerance(1e-5)
#pragma cf instances(i32: int, 128, false; f32: float, 256, false; f64: double, 64, true)
template <class T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce(T *g_idata, T *g_odata, unsigned int n)
{
    cg::thread_block cta = cg::this_thread_block();
    T *sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
    unsigned int gridSize = blockSize * 2 * gridDim.x;
    T mySum = 0;

    while (i < n) {
        mySum += g_idata[i];
        if (nIsPow2 || i + blockSize < n)
            mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = mySum;
    cg::sync(cta);
    if ((blockSize >= 512) && (tid < 256)) {
        sdata[tid] = mySum = mySum + sdata[tid + 256];
    }
    cg::sync(cta);
    if ((blockSize >= 256) && (tid < 128)) {
        sdata[tid] = mySum = mySum + sdata[tid + 128];
    }
    cg::sync(cta);
    if ((blockSize >= 128) && (tid < 64)) {
        sdata[tid] = mySum = mySum + sdata[tid + 64];
    }
    cg::sync(cta);
    cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
    if (cta.thread_rank() < 32) {
        if (blockSize >= 64)
            mySum += sdata[tid + 32];
        for (int offset = tile32.size() / 2; offset > 0; offset /= 2) {
            mySum += tile32.shfl_down(mySum, offset);
        }
    }
    if (cta.thread_rank() == 0)
        g_odata[blockIdx.x] = mySum;
}

template <class T> void run_reduce(int size, int threads, int blocks, T *d_idata, T *d_odata)
{
    dim3 dimBlock(threads, 1, 1);
    dim3 dimGrid(blocks, 1, 1);
    int smemSize = (threads <= 32) ? 2 * threads * sizeof(T) : threads * sizeof(T);
    if (isPow2(size))
        reduce<T, 256, true><<<dimGrid, dimBlock, smemSize>>>(d_idata, d_odata, size);
    else
        reduce<T, 256, false><<<dimGrid, dimBlock, smemSize>>>(d_idata, d_odata, size);
}

template void run_reduce<int>(int size, int threads, int blocks, int *d_idata, int *d_odata);
template void run_reduce<double>(int size, int threads, int blocks, double *d_idata, double *d_odata);
