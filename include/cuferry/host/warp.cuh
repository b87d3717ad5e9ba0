/* warp.cuh - what the lanes of a warp do together: __syncwarp(), shuffles, votes, matches, reductions. */
#ifndef CUFERRY_HOST_WARP_CUH
#define CUFERRY_HOST_WARP_CUH

#include "launch.h"
#include "threads.cuh"
#include "together.cuh"
#include "words.cuh"

/* `in` and `out` may be the same object. */
CF__FN void cf__warp(cf_host_warp_kind kind, unsigned int mask, const void *in, void *out, unsigned int bytes,
                     int argument, int width, const char *what, const char *file, int line)
{
    cf_host_warp lane = {kind, mask, in, out, bytes, argument, width, {what, file, line}, nullptr, 0};
    CF__TOGETHER(, warp(own.state, &lane))
}

CF__FN void __syncwarp(unsigned int mask = 0xffffffff, CF__WHERE)
{
    cf__warp(CF_HOST_WARP_SYNC, mask, nullptr, nullptr, 0, 0, warpSize, "__syncwarp()", file, line);
}

/* The number of a thread in its warp. */
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
    unsigned int lanes = 0;
    cf__warp(CF_HOST_WARP_BALLOT, mask, &predicate, &lanes, sizeof predicate, 0, warpSize, what, file, line);
    return lanes;
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

/* The lanes that come here together: as many as can, which no GPU promises. */
CF__FN unsigned int __activemask(CF__WHERE)
{
    const cf_host_where where = {"__activemask()", file, line};
    CF__TOGETHER(const unsigned int lanes =, active(own.state, &where))
    return lanes;
}

/* ---- Matches ---- */

#define CF__MATCHES(T)                                                                                                \
    CF__FN unsigned int __match_any_sync(unsigned int mask, T value, CF__WHERE)                                       \
    {                                                                                                                 \
        unsigned int lanes = 0;                                                                                       \
        cf__warp(CF_HOST_WARP_MATCH_ANY, mask, &value, &lanes, sizeof value, 0, warpSize, "__match_any_sync()", file, \
                 line);                                                                                               \
        return lanes;                                                                                                 \
    }                                                                                                                 \
    CF__FN unsigned int __match_all_sync(unsigned int mask, T value, int *all, CF__WHERE)                             \
    {                                                                                                                 \
        unsigned int lanes = 0;                                                                                       \
        cf__warp(CF_HOST_WARP_MATCH_ALL, mask, &value, &lanes, sizeof value, 0, warpSize, "__match_all_sync()", file, \
                 line);                                                                                               \
        *all = lanes != 0;                                                                                            \
        return lanes;                                                                                                 \
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

#define CF__REDUCE(name, T, kind)                                                                 \
    CF__FN T name(unsigned int mask, T value, CF__WHERE)                                          \
    {                                                                                             \
        T result = value;                                                                         \
        cf__warp(kind, mask, &value, &result, sizeof value, 0, warpSize, #name "()", file, line); \
        return result;                                                                            \
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
