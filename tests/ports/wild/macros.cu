/* macros.cu - kernels that macros define, in nested namespaces, declared before their definitions, and counters. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#if defined(_WIN32) && !defined(__CYGWIN__)
#  define WIN32_LEAN_AND_MEAN
#  include <windows.h>
#  define EXPORT extern "C" __declspec(dllexport)
#elif defined(__GNUC__)
#  define EXPORT extern "C" __attribute__((visibility("default")))
#endif

#define CUDA_CHECK(call)                                                                              \
    do {                                                                                              \
        cudaError_t status_ = (call);                                                                 \
        if (__builtin_expect(status_ != cudaSuccess, 0)) {                                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            exit(EXIT_FAILURE);                                                                       \
        }                                                                                             \
    } while (0)

#define BDX blockDim.x
#define TID (threadIdx.x + blockIdx.x * BDX)
#define gid threadIdx.x + blockIdx.x * blockDim.x
#define KERNEL(name) extern "C" __global__ void name
#define FOR_ALL(i, n) for (unsigned i = gid; i < (n); i += BDX * gridDim.x)
#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
#define CAT(a, b) a##_##b
#define NAMESPACE_BEGIN(a, b) namespace a { namespace b {
#define NAMESPACE_END(a, b) }} // namespace a::b

#ifndef BLOCK_DIM
#   define BLOCK_DIM 128
#endif

__device__ unsigned int g_count = 0;
__device__ int g_max[4];
__device__ __constant__ int d_offset[2] = {3, -3};
static __device__ volatile int lock_word;

__global__ void later(int *, int);

#define DEFINE_UNARY(NAME, TYPE, EXPR)                                                          \
    _Pragma("cf kernel grid(n) in(x[n]) out(y[n])")                                             \
    __global__ void CAT(unary, NAME)(const TYPE *__restrict__ x, TYPE *__restrict__ y, size_t n) \
    {                                                                                           \
        size_t i = (size_t)TID;                                                                 \
        if (i < n) {                                                                            \
            TYPE v = x[i];                                                                      \
            y[i] = (EXPR);                                                                      \
        }                                                                                       \
    }

DEFINE_UNARY(relu, float, v > 0.f ? v : 0.f)
DEFINE_UNARY(neg, int, -v)
DEFINE_UNARY(half_of, double, v / 2)

NAMESPACE_BEGIN(deep, inner)
namespace detail {
template <int N> struct Unroll {
    template <typename F> static __device__ __forceinline__ void run(const F &f)
    {
        Unroll<N - 1>::run(f);
        f(N - 1);
    }
};
template <> struct Unroll<0> {
    template <typename F> static __device__ __forceinline__ void run(const F &) {}
};
} // namespace detail

#pragma cf kernel name(unrolled) grid(n / 4) in(x[n]) out(y[n]) check(n % 4 == 0)
static __global__ void __launch_bounds__(256, 2) step(const int *const x, int *y, const unsigned n)
{
    const unsigned first = TID * 4;
    if (first >= n) return;
    detail::Unroll<4>::run([&](int k) { y[first + k] = x[first + k] * 3 + d_offset[k & 1]; });
}
NAMESPACE_END(deep, inner)

#pragma cf kernel blocks(2) block(BLOCK_DIM) inout(data[n]) check(n >= 0)
KERNEL(add_counts)(int *data, int n)
{
    FOR_ALL (i, n) {
        data[i] += i;
        if (data[i] % 2) continue;
        atomicInc(&g_count, 0xffffffffu);
    }
}

#pragma cf kernel blocks(1) block(1) inout(count[1])
__global__ static void read_and_clear_count(unsigned int *count)
{
    *count = atomicExch(&g_count, 0);
}

#pragma cf kernel grid(n) block(BLOCK_DIM) inout(data[n])
__global__ void later(int *data, int n)
{
    const int i = gid;
    if (i >= n)
        return;
    assert(i < n && STRINGIFY(BLOCK_DIM));
    if (data[i] == -123456) printf("found at %d in block %u\n", i, blockIdx.x);
    data[i] = __umul24(i, 3) + __mul24(data[i] & 0xffff, 2);
}

EXPORT int launch_all(int *data, int n)
{
    unsigned int zero = 0;
    CUDA_CHECK(cudaMemcpyToSymbol(g_count, &zero, sizeof zero));
    add_counts<<<2, BLOCK_DIM>>>(data, n);
    later<<<(n + BLOCK_DIM - 1) / BLOCK_DIM, BLOCK_DIM>>>(data, n);
    CUDA_CHECK(cudaDeviceSynchronize());
    return 0;
}
