#include <cstddef>
#include <cstdint>
/* out = a x + y */
#pragma cf kernel grid(n) in(x[n], y[n]) out(out[n])
__global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}
/* res[i] = source[index[i]] */
#pragma cf kernel grid(N) in(source[M], index[N]) out(res[N]) check(0 <= index[:] < M)
#pragma cf instances(i32: int32_t; i64: int64_t)
template <class I> __global__ void gather(const float *source, const I *index, float *res, int64_t N, int64_t M)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < N)
        res[i] = source[index[i]];
}
