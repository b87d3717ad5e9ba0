/* gather - res[i] = source[index[i]], of elements and of rows */
#include <stdint.h>
#include <string.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "stream.cuh"

#ifdef __CUDA_ARCH__
/* Gathers four elements with a thread, a block's width apart, so that neighbouring threads read neighbouring indices.
 * Loads that bypass the L1 cache are faster if few of many elements are read, and slower if elements are read again. A
 * thread uses them if its first two indices are 64 KiB apart. */
template <typename T, typename I>
__device__ inline void gather_elements(const T *source, const I *index, T *res, int64_t N, int64_t M)
{
    const int64_t first = (int64_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    I at[4];
    T value[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        at[k] = first + k * blockDim.x < N ? __ldcs(index + first + k * blockDim.x) : 0;
    const int64_t apart = (int64_t)at[1] - (int64_t)at[0], far = 65536 / sizeof(T);
    if (N < M / 8 && (apart >= far || apart <= -far)) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (first + k * blockDim.x < N)
                value[k] = stream_load_once(source + at[k]);
    } else {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (first + k * blockDim.x < N)
                value[k] = __ldg(source + at[k]);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (first + k * blockDim.x < N)
            __stcs(res + first + k * blockDim.x, value[k]);
}
#endif

/* Gathers N elements of source, which has M: res[i] = source[index[i]]. Every index must lie in [0, M), and res must
 * overlap neither source nor index; the plain call checks both. For 2^22 indices or more in no order, and a source of
 * more than 64 MiB, cf_gather_random is faster on a GPU. */
#pragma cf kernel grid(N) items(4) host(grid(N)) in(source[M], index[N]) out(res[N]) check(0 <= index[:] < M) split(N) \
    bytes(N * (2.0 * sizeof(T) + sizeof(I))) flops(0)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; \
    f64_i64: double, int64_t; i32_i32: int32_t, int32_t; i32_i64: int32_t, int64_t; i64_i32: int64_t, int32_t; \
    i64_i64: int64_t, int64_t; f16_i32: __half, int32_t; f16_i64: __half, int64_t; \
    bf16_i32: __nv_bfloat16, int32_t; bf16_i64: __nv_bfloat16, int64_t)
template <typename T, typename I>
__global__ void gather(const T *__restrict__ source, const I *__restrict__ index, T *__restrict__ res, int64_t N,
                       int64_t M)
{
#ifdef __CUDA_ARCH__
    gather_elements(source, index, res, N, M);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        res[i] = source[index[i]];
#endif
}

#ifdef __CUDA_ARCH__
/* Gathers 16 bytes with a thread, in words of the arrays' common alignment that are a block's width apart. U is
 * uint32_t if the number of words fits, because a 32-bit division takes a fraction of the time of a 64-bit one. */
template <typename word, typename U, typename I>
__device__ inline void gather_words(const word *source, const I *index, word *res, U rows, U width)
{
    constexpr int count = 16 / sizeof(word);
    const int64_t first = (int64_t)blockIdx.x * blockDim.x * count + threadIdx.x, words = (int64_t)rows * width;
    word value[count];
#pragma unroll
    for (int k = 0; k < count; k++) {
        const int64_t i = first + k * blockDim.x;
        if (i < words) {
            const U row = (U)i / width;
            value[k] = __ldg(source + ((int64_t)__ldg(index + row) * width + ((U)i - row * width)));
        }
    }
#pragma unroll
    for (int k = 0; k < count; k++)
        if (first + k * blockDim.x < words)
            __stcs(res + first + k * blockDim.x, value[k]);
}

template <typename word, typename T, typename I>
__device__ inline void gather_words(const T *source, const I *index, T *res, int64_t rows, int64_t width)
{
    const word *from = reinterpret_cast<const word *>(source);
    word *to = reinterpret_cast<word *>(res);
    const int64_t words = width * (int64_t)sizeof(T) / (int64_t)sizeof(word);
    if (rows * words <= UINT32_MAX)
        gather_words<word, uint32_t>(from, index, to, (uint32_t)rows, (uint32_t)words);
    else
        gather_words<word, uint64_t>(from, index, to, (uint64_t)rows, (uint64_t)words);
}
#endif

/* On the CPU, a thread copies GATHER_ROWS rows, or GATHER_PART elements of a row that is longer than GATHER_LONG. */
#define GATHER_ROWS 16
#define GATHER_LONG 256
#define GATHER_PART 4096

#ifndef __CUDA_ARCH__
/* Copies rows of `size` to 2 * `size` bytes, each with two moves, which mostly overlap. For so few bytes, the start of
 * a loop or a call of memcpy() would take longer than the copy. */
template <int size, typename I>
__device__ __forceinline__ void gather_short(const char *source, const I *index, char *res, int64_t rows, int64_t bytes)
{
    for (int64_t row = 0; row < rows; row++) {
        const char *from = source + (int64_t)index[row] * bytes;
        char *to = res + row * bytes;
        memcpy(to, from, size);
        memcpy(to + bytes - size, from + bytes - size, size);
    }
}

template <typename T, typename I>
__device__ __forceinline__ void gather_few(const T *elements, const I *index, T *res_elements, int64_t rows,
                                           int64_t width)
{
    const char *source = reinterpret_cast<const char *>(elements);
    char *res = reinterpret_cast<char *>(res_elements);
    const int64_t bytes = width * (int64_t)sizeof(T);
    if (bytes > 256)
        for (int64_t row = 0; row < rows; row++)
            memcpy(res + row * bytes, source + (int64_t)index[row] * bytes, (size_t)bytes);
    else if (bytes > 128)
        gather_short<128>(source, index, res, rows, bytes);
    else if (bytes > 64)
        gather_short<64>(source, index, res, rows, bytes);
    else if (bytes > 32)
        gather_short<32>(source, index, res, rows, bytes);
    else if (bytes >= 16)
        gather_short<16>(source, index, res, rows, bytes);
    else if (bytes >= 8)
        gather_short<8>(source, index, res, rows, bytes);
    else if (bytes >= 4)
        gather_short<4>(source, index, res, rows, bytes);
    else
        gather_short<2>(source, index, res, rows, bytes);
}
#endif

/* Gathers N rows of source, which has M, all of width elements: res[i][k] = source[index[i]][k]. Every index must lie
 * in [0, M), and res must overlap neither source nor index; the plain call checks both. */
#pragma cf kernel grid(N * width) items(16 / sizeof(T)) \
    host(grid(width > GATHER_LONG ? N * ((width - 1) / GATHER_PART + 1) : (N - 1) / GATHER_ROWS + 1)) \
    in(source[M][width], index[N]) out(res[N][width]) check(0 <= index[:] < M) split(N) \
    bytes(N * (2.0 * width * sizeof(T) + sizeof(I))) flops(0)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t; \
    f64_i64: double, int64_t; i32_i32: int32_t, int32_t; i32_i64: int32_t, int64_t; i64_i32: int64_t, int32_t; \
    i64_i64: int64_t, int64_t; f16_i32: __half, int32_t; f16_i64: __half, int64_t; \
    bf16_i32: __nv_bfloat16, int32_t; bf16_i64: __nv_bfloat16, int64_t)
template <typename T, typename I>
__global__ void gather_rows(const T *__restrict__ source, const I *__restrict__ index, T *__restrict__ res, int64_t N,
                            int64_t width, int64_t M)
{
#ifdef __CUDA_ARCH__
    const uintptr_t alignment = (uintptr_t)source | (uintptr_t)res | (uintptr_t)width * sizeof(T);
    if (alignment % 16 == 0)
        gather_words<uint4>(source, index, res, N, width);
    else if (alignment % 8 == 0)
        gather_words<uint2>(source, index, res, N, width);
    else if (alignment % 4 == 0)
        gather_words<unsigned int>(source, index, res, N, width);
    else
        gather_words<unsigned short>(source, index, res, N, width);
#else
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    bool is_long = width > GATHER_LONG;
    int64_t parts = (width - 1) / GATHER_PART + 1;
    if (i >= (is_long ? N * parts : (N - 1) / GATHER_ROWS + 1))
        return;
    if (is_long) {
        int64_t row = i / parts, begin = (i - row * parts) * GATHER_PART, left = width - begin;
        memcpy(res + row * width + begin, source + (int64_t)index[row] * width + begin,
               (size_t)(left < GATHER_PART ? left : GATHER_PART) * sizeof(T));
    } else {
        int64_t first = i * GATHER_ROWS, left = N - first;
        gather_few(source, index + first, res + first * width, left < GATHER_ROWS ? left : GATHER_ROWS, width);
    }
#endif
}
