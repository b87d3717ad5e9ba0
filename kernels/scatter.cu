/* scatter - res[index[i]] = source[i] */
#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "stream.cuh"

/* Writes N elements of source to res, which has M: res[index[i]] = source[i]; other elements of res stay. Every
 * index must lie in [0, M), and res must overlap neither source nor index; the plain call checks both. All indices
 * should differ, which is not checked: if an index occurs more than once, its element of res gets one of its values,
 * and not always the same. */
#pragma cf kernel grid(N) items(4) host(grid((N - 1) / 4 + 1)) in(source[N], index[N]) inout(res[M]) \
    check(0 <= index[:] < M, distinct(index)) split(N) bytes(N * (2.0 * sizeof(T) + sizeof(I))) flops(0)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; \
    f64_i64: double, int64_t; i32_i32: int32_t, int32_t; i32_i64: int32_t, int64_t; i64_i32: int64_t, int32_t; \
    i64_i64: int64_t, int64_t; f16_i32: __half, int32_t; f16_i64: __half, int64_t; \
    bf16_i32: __nv_bfloat16, int32_t; bf16_i64: __nv_bfloat16, int64_t)
template <typename T, typename I>
__global__ void scatter(const T *__restrict__ source, const I *__restrict__ index, T *__restrict__ res, int64_t N,
                        int64_t M)
{
#ifdef __CUDA_ARCH__
    /* Elements are a block's width apart, so that neighbouring threads access neighbouring elements if indices ascend
     * by 1. */
    const int64_t first = (int64_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    I at[4];
    T value[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (first + k * blockDim.x < N) {
            at[k] = __ldcs(index + first + k * blockDim.x);
            value[k] = __ldcs(source + first + k * blockDim.x);
        }
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (first + k * blockDim.x < N)
            res[at[k]] = value[k];
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 4 + 4 <= N) {
        const I *at = index + i * 4;
        const T *from = source + i * 4;
        const I at0 = at[0], at1 = at[1], at2 = at[2], at3 = at[3];
        const T value0 = from[0], value1 = from[1], value2 = from[2], value3 = from[3];
        res[at0] = value0;
        res[at1] = value1;
        res[at2] = value2;
        res[at3] = value3;
    } else {
        for (int64_t k = i * 4; k < N; k++)
            res[index[k]] = source[k];
    }
#endif
}
