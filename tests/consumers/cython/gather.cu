/* res[i] = source[index[i]], for N indices into M elements. */
#include <stdint.h>
#pragma cf kernel grid(N) in(source[M], index[N]) out(res[N]) check(0 <= index[:] < M)
__global__ void cuda_gather(const float *__restrict__ source, const int32_t *__restrict__ index, float *__restrict__ res,
                            int N, int M)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        res[i] = source[index[i]];
}
