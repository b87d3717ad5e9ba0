/* gather - res[i] = source[index[i]] */
#include <stdint.h>

/* Gathers N elements of source, which has M, by index. Every index must lie in [0, M); the plain call checks that.
 * res must overlap neither source nor index. */
#pragma cf kernel grid(N) in(source[M], index[N]) out(res[N]) check(0 <= index[:] < M) \
    bytes(N * (2 * sizeof(T) + sizeof(I)))
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; \
    f64_i64: double, int64_t; i32_i32: int32_t, int32_t; i32_i64: int32_t, int64_t; \
    i64_i32: int64_t, int32_t; i64_i64: int64_t, int64_t)
template <typename T, typename I>
__global__ void gather(const T *source, const I *index, T *res, int64_t N, int64_t M)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        res[i] = source[index[i]];
}
