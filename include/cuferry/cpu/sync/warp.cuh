/* warp.cuh - operations of the lanes of a warp: __syncwarp(), shuffles, votes, matches, reductions. */
#ifndef CUFERRY_CPU_WARP_CUH
#define CUFERRY_CPU_WARP_CUH

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/words.cuh>

#include "together.cuh"

CF__FN uint64_t cf__exchange(cf_host_warp_kind kind, unsigned int mask, uint64_t value, int argument, int width,
                             const char *what, const char *file, int line)
{
    const cf_host_where where = {what, file, line};
    const bool is_width = width > 0 && width <= 32 && !(width & (width - 1));
    const cf_host_warp operation = {(uint8_t)kind, (uint8_t)(is_width ? width : 0), 0, argument};
    CF__TOGETHER(const uint64_t result =, warp(block, mask, value, operation, &where))
    return result;
}

/* Exchanges a value word by word, so that `out` and `in` may be the same memory. */
CF__FN CF__INLINE void cf__warp(cf_host_warp_kind kind, unsigned int mask, const void *in, void *out,
                                unsigned int bytes, int argument, int width, const char *what, const char *file,
                                int line)
{
    unsigned int done = 0;
    do { /* at least once, because lanes also have to meet for a value without bytes */
        const unsigned int part = bytes - done < 8 ? bytes - done : 8;
        uint64_t word = 0;
        __builtin_memcpy(&word, static_cast<const char *>(in) + done, part);
        word = cf__exchange(kind, mask, word, argument, width, what, file, line);
        __builtin_memcpy(static_cast<char *>(out) + done, &word, part);
        done += 8;
    } while (done < bytes);
}

CF__FN void __syncwarp(unsigned int mask = 0xffffffff, CF__WHERE)
{
    cf__exchange(CF_HOST_WARP_SYNC, mask, 0, 0, warpSize, "__syncwarp()", file, line);
}

/* Returns the number of the running thread's lane in its warp. */
CF__FN unsigned int cf__lane()
{
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % 32;
}

/* ---- Shuffles ---- */

template <typename T>
CF__FN T cf__shuffle(cf_host_warp_kind kind, unsigned int mask, T value, int argument, int width, const char *what,
                     const char *file, int line)
{
    T result = value;
    cf__warp(kind, mask, &value, &result, sizeof value, argument, width, what, file, line);
    return result;
}

#define CF__SHUFFLES(T)                                                                                              \
    CF__FN T __shfl_sync(unsigned int mask, T value, int lane, int width = warpSize, CF__WHERE)                      \
    {                                                                                                                \
        return cf__shuffle(CF_HOST_WARP_SHUFFLE, mask, value, lane, width, "__shfl_sync()", file, line);             \
    }                                                                                                                \
    CF__FN T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize, CF__WHERE)         \
    {                                                                                                                \
        return cf__shuffle(CF_HOST_WARP_SHUFFLE_UP, mask, value, (int)delta, width, "__shfl_up_sync()", file, line); \
    }                                                                                                                \
    CF__FN T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize, CF__WHERE)       \
    {                                                                                                                \
        return cf__shuffle(CF_HOST_WARP_SHUFFLE_DOWN, mask, value, (int)delta, width, "__shfl_down_sync()", file,    \
                           line);                                                                                    \
    }                                                                                                                \
    CF__FN T __shfl_xor_sync(unsigned int mask, T value, int lanes, int width = warpSize, CF__WHERE)                 \
    {                                                                                                                \
        return cf__shuffle(CF_HOST_WARP_SHUFFLE_XOR, mask, value, lanes, width, "__shfl_xor_sync()", file, line);    \
    }
CF__SHUFFLES(int)
CF__SHUFFLES(unsigned int)
CF__SHUFFLES(long)
CF__SHUFFLES(unsigned long)
CF__SHUFFLES(long long)
CF__SHUFFLES(unsigned long long)
CF__SHUFFLES(float)
CF__SHUFFLES(double)

/* ---- Votes ---- */

CF__FN unsigned int cf__ballot(unsigned int mask, int predicate, const char *what, const char *file, int line)
{
    return (unsigned int)cf__exchange(CF_HOST_WARP_BALLOT, mask, predicate != 0, 0, warpSize, what, file, line);
}

CF__FN unsigned int __ballot_sync(unsigned int mask, int predicate, CF__WHERE)
{
    return cf__ballot(mask, predicate, "__ballot_sync()", file, line);
}

CF__FN int __any_sync(unsigned int mask, int predicate, CF__WHERE)
{
    return cf__ballot(mask, predicate, "__any_sync()", file, line) != 0;
}

CF__FN int __all_sync(unsigned int mask, int predicate, CF__WHERE)
{
    return cf__ballot(mask, !predicate, "__all_sync()", file, line) == 0;
}

/* Returns the lanes that arrive here together. These are all lanes that can arrive, which is more than a GPU
 * guarantees. */
CF__FN unsigned int __activemask(CF__WHERE)
{
    const cf_host_where where = {"__activemask()", file, line};
    CF__TOGETHER(const unsigned int lanes =, active(block, &where))
    return lanes;
}

/* ---- Matches ---- */

template <typename T>
CF__FN unsigned int cf__match(cf_host_warp_kind kind, unsigned int mask, T value, const char *what, const char *file,
                              int line)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return (unsigned int)cf__exchange(kind, mask, bits, 0, warpSize, what, file, line);
}

#define CF__MATCHES(T)                                                                                               \
    CF__FN unsigned int __match_any_sync(unsigned int mask, T value, CF__WHERE)                                      \
    {                                                                                                                \
        return cf__match(CF_HOST_WARP_MATCH_ANY, mask, value, "__match_any_sync()", file, line);                     \
    }                                                                                                                \
    CF__FN unsigned int __match_all_sync(unsigned int mask, T value, int *all, CF__WHERE)                            \
    {                                                                                                                \
        const unsigned int lanes = cf__match(CF_HOST_WARP_MATCH_ALL, mask, value, "__match_all_sync()", file, line); \
        *all = lanes != 0;                                                                                           \
        return lanes;                                                                                                \
    }
CF__MATCHES(int)
CF__MATCHES(unsigned int)
CF__MATCHES(long)
CF__MATCHES(unsigned long)
CF__MATCHES(long long)
CF__MATCHES(unsigned long long)
CF__MATCHES(float)
CF__MATCHES(double)

/* ---- Reductions ---- */

#define CF__REDUCE(name, T, kind)                                                                     \
    CF__FN T name(unsigned int mask, T value, CF__WHERE)                                              \
    {                                                                                                 \
        return (T)cf__exchange(kind, mask, (unsigned int)value, 0, warpSize, #name "()", file, line); \
    }
CF__REDUCE(__reduce_add_sync, unsigned int, CF_HOST_WARP_ADD)
CF__REDUCE(__reduce_add_sync, int, CF_HOST_WARP_ADD)
CF__REDUCE(__reduce_min_sync, unsigned int, CF_HOST_WARP_MIN)
CF__REDUCE(__reduce_min_sync, int, CF_HOST_WARP_MIN_SIGNED)
CF__REDUCE(__reduce_max_sync, unsigned int, CF_HOST_WARP_MAX)
CF__REDUCE(__reduce_max_sync, int, CF_HOST_WARP_MAX_SIGNED)
CF__REDUCE(__reduce_and_sync, unsigned int, CF_HOST_WARP_AND)
CF__REDUCE(__reduce_or_sync, unsigned int, CF_HOST_WARP_OR)
CF__REDUCE(__reduce_xor_sync, unsigned int, CF_HOST_WARP_XOR)

#endif
