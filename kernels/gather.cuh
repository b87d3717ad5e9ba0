/* gather.cuh - how the threads of a grid gather on a GPU: four elements each. */
#ifndef KERNELS_GATHER_CUH
#define KERNELS_GATHER_CUH

#include "stream.cuh"

#ifdef __CUDA_ARCH__

/* Four elements by a thread, a block's width apart: neighbouring indices are those of neighbouring threads. */
template <bool once, typename T, typename I>
__device__ inline void gather_apart(const T *source, const I *index, T *res, int64_t N)
{
    const int64_t first = (int64_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    I at[4];
    T value[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        at[k] = first + k * blockDim.x < N ? __ldcs(index + first + k * blockDim.x) : 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (first + k * blockDim.x < N)
            value[k] = once ? stream_load_once(source + at[k]) : __ldg(source + at[k]);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (first + k * blockDim.x < N)
            __stcs(res + first + k * blockDim.x, value[k]);
}

/* Four elements by a thread that lie together, from `head` on, where index and res are aligned to such pieces. What is
 * said of index and res leaves the second cache to source. */
template <typename T, typename I>
__device__ inline void gather_together(const T *source, const I *index, T *res, int64_t N, int head)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, first = head + thread * 4;
    if (thread < head && thread < N)
        res[thread] = __ldg(source + index[thread]);
    if (first + 4 <= N) {
        const stream_piece<I, 4> at = stream_load<I, 4, true>(index + first);
        stream_piece<T, 4> value;
#pragma unroll
        for (int k = 0; k < 4; k++)
            value.at[k] = __ldg(source + at.at[k]);
        stream_store<T, 4, true>(res + first, value);
    } else {
        for (int64_t i = first; i < N; i++)
            res[i] = __ldg(source + index[i]);
    }
}

/* Of a source of M elements, whatever the arrays are aligned to. */
template <typename T, typename I>
__device__ inline void gather_elements(const T *source, const I *index, T *res, int64_t N, int64_t M)
{
    /* Few elements of many lie each in a sector of its own, mostly: keeping them in the first cache serves nobody. */
    const bool is_few = N < M / 8;
    const int of_index = stream_head<4>(index), of_res = stream_head<4>(res);
    const int head = of_index > of_res ? of_index : of_res;
    const bool is_aligned = stream_head<4>(index + head) == 0 && stream_head<4>(res + head) == 0;
    if (is_few)
        gather_apart<true>(source, index, res, N);
    else if (is_aligned)
        gather_together(source, index, res, N, head);
    else
        gather_apart<false>(source, index, res, N);
}

#endif
#endif
