/* stream.cuh - accesses on a GPU for kernels that pass over arrays once: 16 bytes at a time if the alignment of the
 * arrays allows it. On the CPU, kernels use host(grid(n)), for which compilers vectorize plain loops over elements. */
#ifndef KERNELS_STREAM_CUH
#define KERNELS_STREAM_CUH

#include <stdint.h>

#ifdef __CUDA_ARCH__

/* N elements that are accessed at once. */
template <typename T, int N> struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) stream_piece {
    T at[N];
};

template <int bytes> struct stream_word {
    typedef uint4 type;
};
template <> struct stream_word<8> {
    typedef uint2 type;
};

template <typename T, int N> __device__ inline stream_piece<T, N> stream_load(const T *address)
{
    typedef typename stream_word<sizeof(stream_piece<T, N>)>::type word;
    stream_piece<T, N> piece;
#pragma unroll
    for (int w = 0; w < (int)(sizeof piece / sizeof(word)); w++)
        reinterpret_cast<word *>(&piece)[w] = reinterpret_cast<const word *>(address)[w];
    return piece;
}

/* Stores elements. `hint` tells the GPU that they are not read again soon; on an H200, it makes kernels that only pass
 * over arrays 3 to 5 % slower. */
template <typename T, int N, bool hint> __device__ inline void stream_store(T *address, const stream_piece<T, N> &piece)
{
    typedef typename stream_word<sizeof(stream_piece<T, N>)>::type word;
#pragma unroll
    for (int w = 0; w < (int)(sizeof piece / sizeof(word)); w++) {
        const word bits = reinterpret_cast<const word *>(&piece)[w];
        word *to = reinterpret_cast<word *>(address) + w;
        if (hint)
            __stcs(to, bits);
        else
            *to = bits;
    }
}

/* Returns the number of elements before the first one at which a piece may begin. */
template <int N, typename T> __device__ inline int stream_head(const T *array)
{
    constexpr unsigned int period = alignof(stream_piece<T, N>) / sizeof(T);
    return (int)(-(uintptr_t)array / sizeof(T) % period);
}

/* Sets out[i] to op(in[i]...) for n elements. A thread has `count` pieces of 16 bytes of out, a block's width apart.
 * Arrays with the same misalignment are accessed 16 bytes at a time between a short head and tail, others by elements.
 * A thread reads an element before it writes it, so that `in` may be `out`. */
template <int count = 1, typename T, typename Op, typename... In>
__device__ inline void stream_map(int64_t n, T *out, Op op, const In *...in)
{
    constexpr int N = 16 / sizeof(T);
    const int64_t block = (int64_t)blockIdx.x * blockDim.x, thread = block + threadIdx.x;
    const int head = stream_head<N>(out);
    if (((stream_head<N>(in) == head) && ...)) {
        const int64_t first = head + (block * count + threadIdx.x) * N;
        const int64_t apart = (int64_t)blockDim.x * N;
        if (thread < head && thread < n)
            out[thread] = op(in[thread]...);
        auto apply = [op](const stream_piece<In, N> &...pieces) {
            stream_piece<T, N> result;
#pragma unroll
            for (int k = 0; k < N; k++)
                result.at[k] = op(pieces.at[k]...);
            return result;
        };
        stream_piece<T, N> results[count];
#pragma unroll
        for (int p = 0; p < count; p++)
            if (first + p * apart + N <= n)
                results[p] = apply(stream_load<In, N>(in + first + p * apart)...);
#pragma unroll
        for (int p = 0; p < count; p++)
            if (first + p * apart + N <= n)
                stream_store<T, N, false>(out + first + p * apart, results[p]);
            else
                for (int64_t i = first + p * apart; i < n; i++)
                    out[i] = op(in[i]...);
    } else {
#pragma unroll
        for (int p = 0; p < count; p++) {
            const int64_t first = (block * count + (int64_t)p * blockDim.x) * N + threadIdx.x;
            T result[N];
#pragma unroll
            for (int k = 0; k < N; k++)
                if (first + k * blockDim.x < n)
                    result[k] = op(in[first + k * blockDim.x]...);
#pragma unroll
            for (int k = 0; k < N; k++)
                if (first + k * blockDim.x < n)
                    out[first + k * blockDim.x] = result[k];
        }
    }
}

/* Loads an element that is not read again, bypassing the L1 cache, from memory that no thread writes meanwhile. */
template <typename T> __device__ inline T stream_load_once(const T *address)
{
    T value;
    if constexpr (sizeof(T) == 2) {
        unsigned short bits;
        asm("ld.global.nc.L1::no_allocate.b16 %0, [%1];" : "=h"(bits) : "l"(address));
        memcpy(&value, &bits, sizeof value);
    } else if constexpr (sizeof(T) == 4) {
        unsigned int bits;
        asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(bits) : "l"(address));
        memcpy(&value, &bits, sizeof value);
    } else {
        unsigned long long bits;
        asm("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(bits) : "l"(address));
        memcpy(&value, &bits, sizeof value);
    }
    return value;
}

#endif
#endif
