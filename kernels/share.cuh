/* share.cuh - functions for kernels whose blocks work together: sums, values that blocks of a launch pass to one
 * another on a GPU, and turns of threads on the CPU
 *
 * A value is shared in words that are 0 at first. The upper half of a word holds four bytes of the value, and the lower
 * half is set to 1 at the same time. A word is written or read by one access, so that the order of accesses does not
 * matter and no fence is needed. */
#ifndef KERNELS_SHARE_CUH
#define KERNELS_SHARE_CUH

#include <stdint.h>
#include <string.h>

#ifndef __CUDA_ARCH__
#include <sched.h>
#include <time.h>
#endif

template <typename T> __device__ __forceinline__ constexpr bool share_is_integral()
{
    return (T)0.5 == (T)0;
}

/* Returns the sum; integers wrap. */
template <typename T> __device__ __forceinline__ T share_plus(T a, T b)
{
    if constexpr (!share_is_integral<T>())
        return a + b;
    else if constexpr (sizeof(T) == 4)
        return (T)((uint32_t)a + (uint32_t)b);
    else
        return (T)((uint64_t)a + (uint64_t)b);
}

/* Memory for a shared value. `words` is its size; with four words, no two values share a sector of the cache. */
template <typename T, int words = sizeof(T) / 4> struct share_words {
    static_assert(sizeof(T) % 4 == 0 && words >= (int)sizeof(T) / 4, "");
    static constexpr int used = sizeof(T) / 4;
    uint64_t at[words];
};

#ifdef __CUDA_ARCH__

__device__ __forceinline__ void share_store_word(uint64_t *address, uint64_t word)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(word) : "memory");
}

__device__ __forceinline__ uint64_t share_load_word(const uint64_t *address)
{
    uint64_t word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
    return word;
}

__device__ __forceinline__ void share_store_word(uint32_t *address, uint32_t word)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(word) : "memory");
}

__device__ __forceinline__ uint32_t share_load_word(const uint32_t *address)
{
    uint32_t word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(address) : "memory");
    return word;
}

template <typename T, int words>
__device__ __forceinline__ void share_store(share_words<T, words> *address, const T &value)
{
    uint32_t half[sizeof(T) / 4];
    memcpy(half, &value, sizeof value);
#pragma unroll
    for (int i = 0; i < (int)sizeof(T) / 4; i++)
        share_store_word(&address->at[i], (uint64_t)half[i] << 32 | 1);
}

/* Clears a value that no thread reads any more. */
template <typename T, int words> __device__ __forceinline__ void share_clear(share_words<T, words> *address)
{
#pragma unroll
    for (int i = 0; i < (int)sizeof(T) / 4; i++)
        share_store_word(&address->at[i], 0);
}

/* Reads a value if it has been stored, and then sets `is_there`. Does nothing if `is_there` is true already. */
template <typename T, int words>
__device__ __forceinline__ void share_look(const share_words<T, words> *address, bool &is_there, T &value)
{
    if (is_there)
        return;
    uint32_t half[sizeof(T) / 4];
    uint64_t all = 1;
#pragma unroll
    for (int i = 0; i < (int)sizeof(T) / 4; i++) {
        const uint64_t word = share_load_word(&address->at[i]);
        half[i] = (uint32_t)(word >> 32);
        all &= word;
    }
    if (all) {
        memcpy(&value, half, sizeof value);
        is_there = true;
    }
}

#else

/* Waits until *turn is `own`. The threads before usually run and are soon done, so that the wait begins by spinning. A
 * longer wait yields the processor, which another thread may need, and finally sleeps. */
static __device__ __attribute__((noinline)) inline void share_await(const uint64_t *turn, uint64_t own)
{
    const int pauses = 1000, yields = 1000;
    int looks = 0;
    while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != own) {
        if (looks < pauses) {
            cf__pause();
        } else if (looks < pauses + yields) {
            sched_yield();
        } else {
            const struct timespec rest = {0, 50000};
            nanosleep(&rest, nullptr);
        }
        looks += looks < pauses + yields;
    }
}

#endif
#endif
