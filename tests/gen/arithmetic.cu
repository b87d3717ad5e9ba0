/* arithmetic.cu - operations that C++ leaves undefined and GPUs define, for test_arithmetic.c: conversions, shifts,
 * divisions, zeros, memory read as another type. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

/* ---- Memory read as another type ---- */

#pragma cf kernel grid(n) in(x[8 * n]) out(sums[n])
__global__ void packed(const __half *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half own[8];
    for (int k = 0; k < 8; k++)
        own[k] = __float2half(0);
    *(float4 *)own = *(const float4 *)(x + 8 * i);
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += __half2float(own[k]);
    sums[i] = sum;
}
