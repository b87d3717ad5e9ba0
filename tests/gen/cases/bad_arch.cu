// Code that only GPUs run. The last five kernels are accepted.
#include <stdio.h>

#if __CUDA_ARCH__ >= 800
#define HAS_PREFETCH 1
#endif

struct setter {
    __device__ void set(float *x) const
    {
#ifdef HAS_PREFETCH
        *x = 1;
#endif
    }
};

__device__ void set_by_function(float *x)
{
#if __CUDA_ARCH__ < 700
#elif defined(__CUDA_ARCH__)
    *x = 1;
#endif
}

__device__ void trace(const float *x)
{
#if defined(TRACE) && defined(__CUDA_ARCH__)
    printf("%f\n", *x);
#endif
}

#pragma cf kernel grid(n) out(x[n])
__global__ void whole_body(float *x, int n)
{
#if __CUDA_ARCH__ >= 700 /* all of it */
    x[threadIdx.x] = 1;
#endif
}

#pragma cf kernel grid(n) out(x[n])
__global__ void all_writes(float *x, int n)
{
    int i = threadIdx.x;
#if defined(__CUDA_ARCH__) && \
    __CUDA_ARCH__ >= 700
    x[i] = 1;
#endif
}

#pragma cf kernel grid(n) out(x[n])
__global__ void all_of_a_function(float *x, int n)
{
    set_by_function(x);
}

#pragma cf kernel grid(n) out(x[n])
__global__ void all_of_a_member(float *x, int n)
{
    setter s;
    s.set(x);
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void empty_on_purpose(float *x, int n)
{
    // __CUDA_ARCH__
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void other_macro_decides(float *x, int n)
{
    trace(x);
}

#pragma cf kernel grid(n) out(x[n])
__global__ void both_branches(float *x, int n)
{
#ifdef __CUDA_ARCH__
    x[threadIdx.x] = 1;
#else
    x[threadIdx.x] = 1;
#endif
}

#pragma cf kernel grid(n) out(x[n])
__global__ void nothing_on_purpose(float *x, int n)
{
#if __CUDA_ARCH__ >= 700
    x[threadIdx.x] = 1;
#else
#endif
}

#pragma cf kernel grid(n) out(x[n]) host(none)
__global__ void of_gpus_alone(float *x, int n)
{
#ifdef __CUDA_ARCH__
    x[threadIdx.x] = 1;
#endif
}

struct Reader {
    __device__ float read(const float *x) const
    {
        float value = 0;
#if __CUDA_ARCH__ >= 350
        value = __ldg(x);
#endif
        return value;
    }
};

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void partly(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = Reader().read(x + i);
#ifdef __CUDA_ARCH__
    y[i] *= 2;
#endif
#if __CUDA_ARCH__ >= 700
    __syncwarp();
#else
#endif
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void short_cut(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __CUDA_ARCH__
    if (x[i] == 0)
        return;
#endif
    if (i < n)
        x[i] = 0;
}
