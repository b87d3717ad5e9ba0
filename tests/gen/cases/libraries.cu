/* Kernels and host code that use NVIDIA's libraries beside kernels for the CPU. */
#include <cub/cub.cuh>
#include <cuda/barrier>
#include <curand_kernel.h>
#include <mma.h>
#include <stdint.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#define BLOCK 128

typedef cub::BlockReduce<float, BLOCK> Reduce;

__device__ __forceinline__ float uniform(curandState *state)
{
    return curand_uniform(state);
}

/* The sum of a block, by CUB. */
#pragma cf kernel blocks(1) block(BLOCK) in(x[BLOCK]) out(sum[1]) host(none)
__global__ void block_sum(const float *x, float *sum)
{
    __shared__ typename Reduce::TempStorage storage;
    const float all = Reduce(storage).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0)
        *sum = all;
}

/* Random numbers of cuRAND on a GPU, of an own generator on the CPU. */
#pragma cf kernel grid(n) out(x[n])
__global__ void noise(float *x, unsigned seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#ifdef __CUDA_ARCH__
    curandState state;
    curand_init(seed, i, 0, &state);
    x[i] = uniform(&state);
#else
    x[i] = (seed * 1664525u + i) * 0x1p-32f;
#endif
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void doubled(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

void sort_all(float *x, int n)
{
    thrust::device_ptr<float> begin(x);
    thrust::sort(thrust::device, begin, begin + n);
}
