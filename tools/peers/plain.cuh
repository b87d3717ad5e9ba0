// plain.cuh - kernels as a CUDA programmer writes them first.
#ifndef PLAIN_CUH
#define PLAIN_CUH

#include <cstdint>

static __global__ void plain_gather(const float *source, const int32_t *index, float *res, int64_t n, int64_t)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        res[i] = source[index[i]];
}

// Keeps a stream at work for some tens of microseconds, while the host enqueues what is timed behind it: its time is
// then the device's, and not that between two calls of the host.
static __global__ void delay()
{
    const long long begin = clock64();
    while (clock64() - begin < 50000)
        ;
}

// Blocks of 256 threads that n threads need.
static inline unsigned int blocks_of(int64_t n)
{
    return (unsigned int)((n + 255) / 256);
}

#endif
