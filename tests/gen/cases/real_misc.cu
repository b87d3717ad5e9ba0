/* real_misc - other shapes: programs with main(), inline PTX, 16-bit floats, raw bytes, attributes, flags, variants. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "real_types.h"

#pragma cf include("real_types.h", "cuferry/types.h")

#define RESTRICT __restrict__
#define KERNEL(threads) __global__ void __launch_bounds__(threads)

using std::size_t;

/* ---- Device code only ---- */

static __device__ __forceinline__ unsigned lane_number()
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__device__ unsigned long long launches;

/* The lane and the clock of each thread, by PTX. */
#pragma cf kernel grid(n) block(64) out(lane[n]) host(none)
__global__ void lanes(unsigned *lane, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        lane[i] = lane_number();
    if (i == 0)
        launches++;
}

/* ---- Attributes in every place ---- */

/* A generator of random numbers, one state per thread. */
#pragma cf kernel grid(n) inout(state[n]) out(number[n])
[[maybe_unused]] static __attribute__((noinline)) KERNEL(256)
    xorshift(uint64_t *RESTRICT state, float *RESTRICT number, const size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint64_t s = state[i];
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    state[i] = s;
    number[i] = (float)(s >> 40) * 0x1p-24f;
}

/* ---- 16 bits ---- */

/* y = a x + y in half precision. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
__global__ void half_axpy(__half a, const __half *x, __half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma(a, x[i], y[i]);
}

/* Wide and narrow numbers in one template. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
#pragma cf instances(f16: float, half; bf16: float, __nv_bfloat16; f16_f64: double, __half)
template <typename From, typename To> __global__ void narrow(const From *x, To *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (To)(float)x[i];
}

/* ---- Reductions ---- */

template <class T, unsigned int BLOCK, bool SQUARES>
void reduce_cpu(const T *x, T *sum, volatile T *partial, unsigned int n)
{
    (void)partial;
    *sum = T(0);
    for (unsigned int i = 0; i < n; i++)
        *sum += SQUARES ? x[i] * x[i] : x[i];
}

/* The blocks' sums of elements, or of their squares; a thread adds several. */
#pragma cf kernel blocks(min((n + BLOCK - 1) / BLOCK, 1024)) block(BLOCK) shared(BLOCK * sizeof(T)) host(reduce_cpu) \
    tune(BLOCK: 256, 128, 512) in(x[n]) inout(sum[1]) scratch(partial[(n + BLOCK - 1) / BLOCK]) tolerance(1e-5 * n)
#pragma cf instances(sum_f32: float, false; sum_f64: double, false; \
    squares_f32: float, true; squares_f64: double, true)
template <class T, unsigned int BLOCK, bool SQUARES>
__global__ void reduce(const T *__restrict__ x, T *sum, volatile T *partial, unsigned int n)
{
    extern __shared__ double memory[];
    T *own = reinterpret_cast<T *>(memory), total = T(0);
    for (unsigned int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        total += SQUARES ? x[i] * x[i] : x[i];
    own[threadIdx.x] = total;
    __syncthreads();
    for (unsigned int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            own[threadIdx.x] += own[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = own[0];
        atomicAdd(sum, own[0]);
    }
}

/* ---- Raw memory and flags ---- */

/* Bytes of any type, written with one value. */
#pragma cf kernel grid(count) resident(target)
__global__ void fill_bytes(void *target, int value, ptrdiff_t count)
{
    ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        ((unsigned char *)target)[i] = (unsigned char)value;
}

/* Characters, turned into capitals; a flag that others watch is set at the end. */
#pragma cf kernel grid(length) inout(text[length]) inout(done[1])
__global__ void capitals(char *text, volatile int *done, unsigned short length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length && text[i] >= 'a' && text[i] <= 'z')
        text[i] = (char)(text[i] - 'a' + 'A');
    if (i == length - 1)
        *done = 1;
}

/* Handles of objects, as integers that hold pointers. */
#pragma cf kernel grid(n) in(handle[n]) out(value[n])
__global__ void follow(const uintptr_t *handle, long offset, signed *value, long long int n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        value[i] = *(const int *)handle[i] + (int)offset;
}

/* ---- Overloads ---- */

/* One name in C++ for two kernels, two names in C. */
#pragma cf kernel name(scale_single) grid(n) inout(x[n])
__global__ void scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

/* The other. */
#pragma cf kernel name(scale_double) grid(n) inout(x[n])
__global__ void scale(double *x, double factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

/* ---- Sorting ---- */

/* One exchange of a bitonic sort. */
#pragma cf kernel grid(n) inout(key[n]) check((n & (n - 1)) == 0, j < n)
__global__ void exchange_pairs(uint32_t *key, uint32_t n, uint32_t j, uint32_t k)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (i >= n || other <= i || other >= n)
        return;
    if (((i & k) == 0) == (key[i] > key[other])) {
        uint32_t old = key[i];
        key[i] = key[other];
        key[other] = old;
    }
}

/* ---- The program around them ---- */

__global__ void warm_up(void)
{
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)atol(argv[1]) : 1 << 20;
    uint64_t *state;
    float *number;
    if (cudaMalloc(&state, n * sizeof *state) != cudaSuccess || cudaMalloc((void **)&number, n * sizeof(float)))
        return EXIT_FAILURE;
    cudaMemset(state, 1, n * sizeof *state);
    warm_up<<<1, 1>>>();
    xorshift<<<dim3((unsigned)((n + 255) / 256), 1, 1), dim3(256), 0, (cudaStream_t)0>>>(state, number, n);
    reduce<float, 256, false><<<64, 256, 256 * sizeof(float)>>>(number, number, number, (unsigned)n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(state);
    cudaFree(number);
    return EXIT_SUCCESS;
}
