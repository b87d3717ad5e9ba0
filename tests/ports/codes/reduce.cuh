/* reduce.cuh - reductions over a block for softmax.cu and layernorm.cu, and a helper for launches. */
#pragma once
#include <cstdio>

struct MaxOp {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct SumOp {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <typename Op> __device__ inline float warp_reduce(float val)
{
    Op op;
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        val = op(val, __shfl_xor_sync(0xFFFFFFFF, val, offset));
    return val;
}

template <typename Op, int THREADS> __device__ inline float block_reduce(float val, float *shared, float start)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    val = warp_reduce<Op>(val);
    if (lane == 0)
        shared[warp] = val;
    __syncthreads();
    val = warp_reduce<Op>(lane < THREADS / 32 ? shared[lane] : start);
    __syncthreads();
    return val;
}

template <typename F, typename... A> inline void launch_rows(F *kernel, int gridDim, int blockDim, A &&...a)
{
    kernel<<<gridDim, blockDim>>>(a...);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
}
