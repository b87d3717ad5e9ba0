/* names - kernels and parameters with names that occur elsewhere, in forms of real code; all are accepted. */
#include <cuda_runtime.h>
#include <stdint.h>

static const int separated = 1'000'000;
static const char brace = '{';

#ifdef __CUDACC__
/* A parameter of the kernel's own name. */
#pragma cf kernel grid(n) inout(x[n])
extern "C" __global__ void scale(float *x, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= scale;
}
#endif

#pragma cf kernel grid(n) in(image[n]) out(y[n]) block(min(1'000, 64 * 4))
__global__ void __maxnreg__(64) image(const float *image, float *y, long n, int args)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = image[i] + separated + brace + args;
}

#pragma cf kernel grid(N) inout(T[N])
__global__ void locate(double *T, int64_t N)
{
    if (threadIdx.x == 0 && blockIdx.x == 0 && N > 0)
        T[0] = 1;
}

// The instances do not fill a table of types: the selections get defaults.
#pragma cf kernel grid(n) inout(x[n]) in(k[n])
#pragma cf instances(a: float, int; b: float, int64_t; c: double, short; d: double, signed char)
template <typename T, typename K> __global__ void sparse(T *x, const K *k, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += k[i];
}
// Names with other letters, in places that C programs do not write.
// Names with other letters, where C programs do not write them.
#define GRÖSSE n
__device__ int earlier(int wärme)
{
    __shared__ int ändert[4], x;
    ändert[0] = wärme;
    __syncthreads();
    return ändert[0] + x;
}

#pragma cf kernel grid(GRÖSSE) inout(x[n]) block(4)
__global__ void later(int *x, int n)
{
    x[threadIdx.x] = earlier(n);
}
