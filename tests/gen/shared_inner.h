/* shared_inner.h - a header with __shared__ memory that another header includes. */
#pragma once

#include <stdint.h>

/* Returns the sum over the block in every thread. */
template <typename T> __device__ T block_sum(T x)
{
    static __shared__ T part[32], sum;
    const int rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int threads = blockDim.x * blockDim.y * blockDim.z;
    if (rank < 32)
        part[rank] = 0;
    if (rank == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&part[rank % 32], x);
    __syncthreads();
    if (rank == 0)
        for (int i = 0; i < 32 && i < threads; i++)
            sum += part[i];
    __syncthreads();
    const T result = sum;
    __syncthreads();
    return result;
}
