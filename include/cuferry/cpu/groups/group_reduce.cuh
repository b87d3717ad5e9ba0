/* group_reduce.cuh - cooperative_groups: reductions over the threads of a tile or of a coalesced group. */
#ifndef CUFERRY_CPU_GROUP_REDUCE_CUH
#define CUFERRY_CPU_GROUP_REDUCE_CUH

#include "group_scan.cuh"

namespace cooperative_groups
{
/* The operation of a warp that combines 32-bit integers by Operator; CF_HOST_WARP_SYNC if a warp has none. */
template <typename T, typename Operator> struct cf__reduction {
    static constexpr cf_host_warp_kind kind = CF_HOST_WARP_SYNC;
};

#define CF__REDUCTION(name, signed_kind, unsigned_kind)                  \
    template <> struct cf__reduction<int, name<int>> {                   \
        static constexpr cf_host_warp_kind kind = signed_kind;           \
    };                                                                   \
    template <> struct cf__reduction<unsigned int, name<unsigned int>> { \
        static constexpr cf_host_warp_kind kind = unsigned_kind;         \
    };
CF__REDUCTION(plus, CF_HOST_WARP_ADD, CF_HOST_WARP_ADD)
CF__REDUCTION(less, CF_HOST_WARP_MIN_SIGNED, CF_HOST_WARP_MIN)
CF__REDUCTION(greater, CF_HOST_WARP_MAX_SIGNED, CF_HOST_WARP_MAX)
CF__REDUCTION(bit_and, CF_HOST_WARP_AND, CF_HOST_WARP_AND)
CF__REDUCTION(bit_or, CF_HOST_WARP_OR, CF_HOST_WARP_OR)
CF__REDUCTION(bit_xor, CF_HOST_WARP_XOR, CF_HOST_WARP_XOR)
#undef CF__REDUCTION

template <typename Group, typename T, typename Operator>
CF__FN auto reduce(const Group &group, T &&value, Operator &&op, CF__WHERE) -> decltype(op(value, value));

/* Returns the combined values of a tile in the order of a GPU: first the two halves of the tile are combined, then the
 * quarters, and so on. */
template <unsigned int Size, typename T, typename Operator>
CF__FN T cf__reduce(const thread_block_tile<Size> &tile, T value, Operator &op, const char *file, int line)
{
    if constexpr (Size <= 32) {
        for (unsigned int distance = Size / 2; distance; distance /= 2)
            value = op(value, tile.shfl_xor(value, distance, file, line));
        return value;
    } else {
        return cf__between_warps(
            tile, reduce(thread_block_tile<32>(0, 1), value, op, file, line),
            [&](T part) { return reduce(thread_block_tile<Size / 32>(0, 1), part, op, file, line); }, file, line);
    }
}

template <typename T, typename Operator>
CF__FN T cf__reduce(const coalesced_group &group, T value, Operator &op, const char *file, int line)
{
    if (group.num_threads() == 32)
        return cf__reduce(thread_block_tile<32>(0, 1), value, op, file, line);
    return group.shfl(cf__scan(group, value, op, file, line), (int)group.num_threads() - 1, file, line);
}

template <typename Group, typename T, typename Operator>
CF__FN auto reduce(const Group &group, T &&value, Operator &&op, const char *file, int line)
    -> decltype(op(value, value))
{
    typedef cf__value<T> Value;
    constexpr cf_host_warp_kind kind = cf__reduction<Value, cf__value<Operator>>::kind;
    if constexpr (kind != CF_HOST_WARP_SYNC && !cf__is_large<Group>()) {
        Value result = value;
        cf__warp(kind, group.cf__lanes(), &result, &result, sizeof result, 0, warpSize, "reduce()", file, line);
        return result;
    } else {
        return cf__reduce(group, Value(value), op, file, line);
    }
}

/* ---- To an atomic object, or to memory ---- */

template <typename T> CF__FN void cf__store(T *target, const T &value)
{
    *target = value;
}

template <typename Atomic, typename T> CF__FN void cf__store(Atomic &&target, const T &value)
{
    target.store(value);
}

template <typename Group, typename Atomic, typename T, typename Operator>
CF__FN void reduce_update_async(const Group &group, Atomic &&target, T &&value, Operator &&op, CF__WHERE)
{
    const cf__value<T> result = reduce(group, value, op, file, line);
    if (group.thread_rank() == 0)
        cf__update(target, result, op);
}

template <typename Group, typename Atomic, typename T, typename Operator>
CF__FN void reduce_store_async(const Group &group, Atomic &&target, T &&value, Operator &&op, CF__WHERE)
{
    const cf__value<T> result = reduce(group, value, op, file, line);
    if (group.thread_rank() == 0)
        cf__store(target, result);
}

} /* namespace cooperative_groups */

/* Replaces the values of a tile's lanes by the results of reduce() in a region of threads. The mask of a lane that gave
 * no value is 0. */
template <unsigned int Size, typename T, typename Operator>
static inline CF__INLINE CF__OF_BLOCK void cf__lanes_reduce(T *values, const uint32_t *masks, Operator op)
{
    constexpr cf_host_warp_kind kind = cooperative_groups::cf__reduction<T, Operator>::kind;
    if constexpr (kind == CF_HOST_WARP_ADD)
        cf__lanes_add(values, masks);
    else if constexpr (kind != CF_HOST_WARP_SYNC)
        cf__reduce_lanes(values, masks, op);
    else
        CF__UNROLL for (unsigned int distance = Size / 2; distance; distance /= 2)
        {
            alignas(32) T others[32];
            for (int t = 0; t < 32; t++)
                others[t] = values[t];
            cf__shift_xor(others, (int)distance);
            for (int t = 0; t < 32; t++)
                values[t] = masks[t] ? op(values[t], others[t]) : T();
        }
}

#endif
