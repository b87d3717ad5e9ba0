/* scale.cu - the left library: scale() gives 2 * x + 1. */
#include <stdint.h>

/* Calls are not inlined, so that the test shows which function of this name they reach. */
#define KEPT __attribute__((noinline))

template <typename T> struct Rule {
    __device__ KEPT static T apply(T x)
    {
        return 2 * x;
    }
};

template <typename T> __device__ KEPT T scaled(T x)
{
    return Rule<T>::apply(x);
}

__device__ KEPT float shift(float x)
{
    return x + 1;
}

/* y = 2 * x + 1 for n elements. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
extern "C" __global__ void scale(const float *x, float *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = shift(scaled(x[i]));
}
