/* layernorm.cu - normalises rows that consist of vectors of four floats; also returns mean and deviation. */
#include <cuda_fp16.h>

#include "reduce.cuh"

template <typename T> struct alignas(16) Pack {
    T v[16 / sizeof(T)];
};

__device__ inline float to_float(float x)
{
    return x;
}
__device__ inline float to_float(__half x)
{
    return __half2float(x);
}

#pragma cf kernel blocks(N) block(128) in(inp[N][C], weight[C], bias[C]) out(out[N][C], mean[N], rstd[N]) \
    check(C > 0, C % (16 / sizeof(T)) == 0) tolerance(1e-3)
#pragma cf instances(f32: float; f16: __half)
template <typename T>
__global__ void layernorm_forward(T *__restrict__ out, float *__restrict__ mean, float *__restrict__ rstd,
                                  const T *__restrict__ inp, const T *__restrict__ weight, const T *__restrict__ bias,
                                  int N, int C)
{
    constexpr int W = 16 / sizeof(T);
    __shared__ float shared[4];
    const Pack<T> *x = reinterpret_cast<const Pack<T> *>(inp + (size_t)blockIdx.x * C);
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < C / W; i += blockDim.x) {
        Pack<T> p = x[i];
#pragma unroll
        for (int k = 0; k < W; k++) {
            float f = to_float(p.v[k]);
            sum += f;
            squares += f * f;
        }
    }
    sum = block_reduce<SumOp, 128>(sum, shared, 0);
    squares = block_reduce<SumOp, 128>(squares, shared, 0);
    const float m = sum / C, s = rsqrtf(squares / C - m * m + 1e-5f);
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        __stcs(rstd + blockIdx.x, s);
    }
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        float n = s * (to_float(inp[(size_t)blockIdx.x * C + i]) - m);
        out[(size_t)blockIdx.x * C + i] = (T)(n * to_float(weight[i]) + to_float(bias[i]));
    }
}

void layernorm(float *out, float *mean, float *rstd, float *inp, float *weight, float *bias, int N, int C)
{
    launch_rows(layernorm_forward<float>, N, 128, out, mean, rstd, inp, weight, bias, N, C);
}
