/* gather.cuh - how the threads of a grid gather on a GPU: four elements each. */
#ifndef KERNELS_GATHER_CUH
#define KERNELS_GATHER_CUH

#include "stream.cuh"

#ifdef __CUDA_ARCH__

/* Four elements of N by a thread, a block's width apart, so that neighbouring indices are those of neighbouring threads.
 * Loads that skip the L1 cache are faster where few elements of M are read, and slower where they are read again: a
 * thread takes them if its first two indices are 64 KiB apart. */
template <typename T, typename I>
__device__ inline void gather_elements(const T *source, const I *index, T *res, int64_t N, int64_t M)
{
    const int64_t first = (int64_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    I at[4];
    T value[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        at[k] = first + k * blockDim.x < N ? __ldcs(index + first + k * blockDim.x) : 0;
    const int64_t apart = (int64_t)at[1] - (int64_t)at[0], far = 65536 / sizeof(T);
    if (N < M / 8 && (apart >= far || apart <= -far)) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (first + k * blockDim.x < N)
                value[k] = stream_load_once(source + at[k]);
    } else {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (first + k * blockDim.x < N)
                value[k] = __ldg(source + at[k]);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (first + k * blockDim.x < N)
            __stcs(res + first + k * blockDim.x, value[k]);
}

#endif
#endif
