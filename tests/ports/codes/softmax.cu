/* softmax.cu - softmax of rows, one block per row; reduces within warps, and then over the block. */
#include <cfloat>
#include <cmath>
#include <functional>
#include <vector>

#include "reduce.cuh"

#pragma cf kernel blocks(rows) block(THREADS) in(inp[rows][cols]) out(out[rows][cols]) param(int rows) \
    check(cols > 0) tolerance(1e-5)
#pragma cf instances(t64: 64; t256: 256)
template <int THREADS> __global__ void softmax_forward(float *out, const float *inp, int cols)
{
    __shared__ float shared[32];
    const float *x = inp + blockIdx.x * cols;
    float *y = out + blockIdx.x * cols;
    float maxval = -FLT_MAX;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        maxval = fmaxf(maxval, x[i]);
    maxval = block_reduce<MaxOp, THREADS>(maxval, shared, -FLT_MAX);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        sum += __expf(x[i] - maxval);
    sum = block_reduce<SumOp, THREADS>(sum, shared, 0.0f);
    for (int i = threadIdx.x; i < cols; i += THREADS)
        y[i] = __expf(x[i] - maxval) / sum;
}

void softmax_forward_cpu(float *out, const float *inp, int rows, int cols)
{
    const std::function<float(float)> e = [](float v) { return std::exp(v); };
    std::vector<float> row(cols);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            out[i * cols + j] = e(inp[i * cols + j]);
}

void softmax(float *out, const float *inp, int rows, int cols, int block_size)
{
    switch (block_size) {
    case 64: softmax_forward<64><<<rows, 64>>>(out, inp, cols); break;
    case 256: softmax_forward<256><<<rows, 256>>>(out, inp, cols); break;
    default: softmax_forward_cpu(out, inp, rows, cols);
    }
}
