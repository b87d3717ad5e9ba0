// warp_reduce.cuh - the reductions of a warp, for GPUs that have no instructions for them.
#ifndef WARP_REDUCE_CUH
#define WARP_REDUCE_CUH

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
// From sm_80 on there are instructions for these.
#define REDUCE(name, T, next)                                                   \
    __device__ T name(unsigned int mask, T value)                               \
    {                                                                           \
        const unsigned int lanes = __ballot_sync(mask, 1);                      \
        T all = __shfl_sync(lanes, value, __ffs(lanes) - 1);                    \
        for (unsigned int rest = lanes & (lanes - 1); rest; rest &= rest - 1) { \
            const T other = __shfl_sync(lanes, value, __ffs(rest) - 1);         \
            all = next;                                                         \
        }                                                                       \
        return all;                                                             \
    }
REDUCE(__reduce_add_sync, unsigned int, all + other)
REDUCE(__reduce_min_sync, unsigned int, min(all, other))
REDUCE(__reduce_max_sync, unsigned int, max(all, other))
REDUCE(__reduce_add_sync, int, all + other)
REDUCE(__reduce_min_sync, int, min(all, other))
REDUCE(__reduce_max_sync, int, max(all, other))
REDUCE(__reduce_and_sync, unsigned int, all &other)
REDUCE(__reduce_or_sync, unsigned int, all | other)
REDUCE(__reduce_xor_sync, unsigned int, all ^ other)
#undef REDUCE
#endif

#endif
