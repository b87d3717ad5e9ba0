// plain.cuh - kernels in the form in which a CUDA programmer would first write them.
#ifndef PLAIN_CUH
#define PLAIN_CUH

#include <cstdint>

static __global__ void plain_gather(const float *source, const int32_t *index, float *res, int64_t n, int64_t)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        res[i] = source[index[i]];
}

// Number of blocks of 256 threads for n threads.
static inline unsigned int blocks_of(int64_t n)
{
    return (unsigned int)((n + 255) / 256);
}

#endif
