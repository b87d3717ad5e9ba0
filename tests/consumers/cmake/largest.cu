/* largest.cu - the largest of some integers. */
#include <stdint.h>

/* Sets *result to the largest element of x, if that is larger. */
#pragma cf kernel internal grid(n) in(x[n]) inout(result[1])
__global__ void raise(const int64_t *x, int64_t *result, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMax((long long *)result, (long long)x[i]);
}

/* Sets *result to the largest element of x; largest.c contains its launches. */
#pragma cf operation in(x[n]) out(result[1]) uses(raise)
void largest(const int64_t *x, int64_t *result, int64_t n);
