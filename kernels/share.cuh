/* share.cuh - values that blocks of one launch pass to one another on a GPU, through memory that is 0 at first.
 *
 * A value is shared as words whose lower half is 1 once the upper half is there, which holds four of its bytes. A word
 * is written and read by one access, so that no order of two accesses counts, and no fence is needed. */
#ifndef KERNELS_SHARE_CUH
#define KERNELS_SHARE_CUH

#include <stdint.h>
#include <string.h>

/* `words` is what a value takes at least; with four of them no two share a sector of the cache. */
template <typename T, int words = sizeof(T) / 4> struct share_words {
    static_assert(sizeof(T) % 4 == 0 && words >= (int)sizeof(T) / 4, "");
    static constexpr int used = sizeof(T) / 4;
    uint64_t at[words];
};

#ifdef __CUDA_ARCH__

template <typename T, int words>
__device__ __forceinline__ void share_store(share_words<T, words> *address, const T &value)
{
    uint32_t half[sizeof(T) / 4];
    memcpy(half, &value, sizeof value);
#pragma unroll
    for (int i = 0; i < (int)sizeof(T) / 4; i++)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(&address->at[i]), "l"((uint64_t)half[i] << 32 | 1)
                     : "memory");
}

/* Reads a value once it is there: `is_there` says so, and is true from the first where none is wanted. */
template <typename T, int words>
__device__ __forceinline__ void share_look(const share_words<T, words> *address, bool &is_there, T &value)
{
    if (is_there)
        return;
    uint32_t half[sizeof(T) / 4];
    uint64_t all = 1;
#pragma unroll
    for (int i = 0; i < (int)sizeof(T) / 4; i++) {
        uint64_t word;
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(&address->at[i]) : "memory");
        half[i] = (uint32_t)(word >> 32);
        all &= word;
    }
    if (all) {
        memcpy(&value, half, sizeof value);
        is_there = true;
    }
}

#endif
#endif
