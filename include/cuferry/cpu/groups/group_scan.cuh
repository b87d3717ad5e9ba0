/* group_scan.cuh - cooperative_groups: operators, and scans over the threads of a tile or of a coalesced group. */
#ifndef CUFERRY_CPU_GROUP_SCAN_CUH
#define CUFERRY_CPU_GROUP_SCAN_CUH

#include "tiles.cuh"

namespace cooperative_groups
{
/* ---- Operators ---- */

#define CF__OPERATOR(name, value)                                 \
    template <typename T> struct name {                           \
        T operator()(T a, T b) const                              \
        {                                                         \
            return value;                                         \
        }                                                         \
    };                                                            \
    template <> struct name<void> {                               \
        template <typename T> T operator()(const T &a, T b) const \
        {                                                         \
            return value;                                         \
        }                                                         \
    };
CF__OPERATOR(plus, a + b)
CF__OPERATOR(less, b < a ? b : a)
CF__OPERATOR(greater, a < b ? b : a)
CF__OPERATOR(bit_and, a &b)
CF__OPERATOR(bit_or, a | b)
CF__OPERATOR(bit_xor, a ^ b)
#undef CF__OPERATOR

template <typename T> struct cf__value_of {
    typedef T type;
};
template <typename T> struct cf__value_of<T &> : cf__value_of<T> {
};
template <typename T> struct cf__value_of<T &&> : cf__value_of<T> {
};
template <typename T> struct cf__value_of<const T> : cf__value_of<T> {
};
template <typename T> struct cf__value_of<volatile T> : cf__value_of<T> {
};
template <typename T> using cf__value = typename cf__value_of<T>::type;

template <typename T, typename Operator> struct cf__is_integer_sum {
    static constexpr bool value = false;
};
template <typename T> struct cf__is_integer_sum<T, plus<T>> {
    static constexpr bool value = ((T)1 / 2 == (T)0);
};

/* ---- Tiles of several warps ---- */

template <unsigned int Size> CF__FN constexpr bool cf__spans_warps(const cf__tile<Size, false> *)
{
    return true;
}

CF__FN constexpr bool cf__spans_warps(const void *)
{
    return false;
}

template <typename Group> CF__FN constexpr bool cf__is_large()
{
    return cf__spans_warps(static_cast<const Group *>(nullptr));
}

/* Takes a value of each warp and returns a result to each. One thread of the tile's first warp computes all results; it
 * may use as many lanes as the tile has warps. */
template <typename Group, typename T, typename Between>
CF__FN T cf__between_warps(const Group &group, T value, Between between, const char *file, int line)
{
    cf__check_large<T>();
    const unsigned int lane = cf__lane(), first = Group::cf__first_warp(), own = first + Group::cf__warp_rank();
    if (lane == 0)
        Group::cf__put(own, value);
    group.cf__wait_for_all("an operation of a thread_block_tile", file, line);
    if (own == first && lane < Group::cf__warps)
        Group::cf__put(first + lane, between(Group::template cf__get<T>(first + lane)));
    group.cf__wait_for_all("an operation of a thread_block_tile", file, line);
    const T result = Group::template cf__get<T>(own);
    __syncwarp(0xffffffff, file, line); /* before the next value is written */
    return result;
}

/* ---- Scans ---- */

/* Scans in the order of a GPU: each rank first adds the value 1 rank below, then 2 ranks below, 4 and so on. */
template <typename Group, typename T, typename Operator>
CF__FN T cf__scan(const Group &group, T value, Operator &op, const char *file, int line)
{
    const unsigned int rank = group.thread_rank(), size = group.num_threads();
    for (unsigned int distance = 1; distance < size; distance *= 2) {
        const T below = group.shfl_up(value, distance, file, line);
        if (distance <= rank)
            value = op(value, below);
    }
    return value;
}

template <typename Group, typename T, typename Operator>
CF__FN auto exclusive_scan(const Group &group, T &&value, Operator &&op, CF__WHERE) -> decltype(op(value, value));

/* Scans over the warps of a tile: each warp gets the combined value of all lower warps, and the first warp an empty
 * value. */
template <bool is_exclusive, typename Group, typename T, typename Operator>
CF__FN T cf__scan_warps(const Group &group, T value, Operator &op, const char *file, int line)
{
    typedef thread_block_tile<Group::cf__warps> Warps;
    const thread_block_tile<32> warp(0, 1);
    const T scanned = cf__scan(warp, value, op, file, line);
    const T below = cf__between_warps(
        group, warp.shfl(scanned, 31, file, line),
        [&](T total) { return exclusive_scan(Warps(0, 1), total, op, file, line); }, file, line);
    const T own = is_exclusive ? warp.shfl_up(scanned, 1, file, line) : scanned;
    if (is_exclusive && warp.thread_rank() == 0)
        return below;
    return Group::cf__warp_rank() == 0 ? own : op(own, below);
}

template <typename Group, typename T, typename Operator>
CF__FN auto inclusive_scan(const Group &group, T &&value, Operator &&op, CF__WHERE) -> decltype(op(value, value))
{
    if constexpr (cf__is_large<Group>())
        return cf__scan_warps<false>(group, cf__value<T>(value), op, file, line);
    else
        return cf__scan(group, cf__value<T>(value), op, file, line);
}

template <typename Group, typename T> CF__FN cf__value<T> inclusive_scan(const Group &group, T &&value, CF__WHERE)
{
    return inclusive_scan(group, value, plus<cf__value<T>>(), file, line);
}

/* Scans exclusively: a thread's result lacks its own value. The first thread gets an empty value. */
template <typename Group, typename T, typename Operator>
CF__FN auto exclusive_scan(const Group &group, T &&value, Operator &&op, const char *file, int line)
    -> decltype(op(value, value))
{
    typedef cf__value<T> Value;
    const Value own = value;
    if constexpr (cf__is_large<Group>()) {
        return cf__scan_warps<true>(group, own, op, file, line);
    } else if constexpr (cf__is_integer_sum<Value, cf__value<Operator>>::value) {
        return (Value)(cf__scan(group, own, op, file, line) - own);
    } else {
        const Value scanned = cf__scan(group, own, op, file, line);
        const Value below = group.shfl_up(scanned, 1, file, line);
        return group.thread_rank() == 0 ? Value{} : below;
    }
}

template <typename Group, typename T> CF__FN cf__value<T> exclusive_scan(const Group &group, T &&value, CF__WHERE)
{
    return exclusive_scan(group, value, plus<cf__value<T>>(), file, line);
}

/* ---- Scans that start from the value of an atomic object and leave the total in it ---- */

/* Combines an atomic object with a value and returns the old value. */
template <typename Atomic, typename T, typename Operator> CF__FN T cf__update(Atomic &&atomic, T value, Operator &op)
{
    T old = atomic.load();
    while (!atomic.compare_exchange_weak(old, op(old, value)))
        ;
    return old;
}

template <typename Group, typename Atomic, typename T, typename Operator>
CF__FN T cf__total_before(const Group &group, Atomic &&target, T scanned, Operator &op, const char *file, int line)
{
    const unsigned int last = group.num_threads() - 1;
    T before{};
    if (group.thread_rank() == last)
        before = cf__update(target, scanned, op);
    return group.shfl(before, (int)last, file, line);
}

/* Scans over the warps of a tile, starting from an atomic object's value, and leaves the total in that object. */
template <bool is_exclusive, typename Group, typename Atomic, typename T, typename Operator>
CF__FN T cf__scan_warps_update(const Group &group, Atomic &target, T value, Operator &op, const char *file, int line)
{
    typedef thread_block_tile<Group::cf__warps> Warps;
    const thread_block_tile<32> warp(0, 1);
    const T scanned = cf__scan(warp, value, op, file, line);
    const T before = cf__between_warps(
        group, warp.shfl(scanned, 31, file, line),
        [&](T total) {
            const Warps warps(0, 1);
            const T sum = cf__scan(warps, total, op, file, line);
            const T old = cf__total_before(warps, target, sum, op, file, line);
            const T below = warps.shfl_up(sum, 1, file, line);
            return warps.thread_rank() == 0 ? old : op(below, old);
        },
        file, line);
    const T own = is_exclusive ? warp.shfl_up(scanned, 1, file, line) : scanned;
    return is_exclusive && warp.thread_rank() == 0 ? before : op(own, before);
}

template <typename Group, typename Atomic, typename T, typename Operator>
CF__FN auto inclusive_scan_update(const Group &group, Atomic &&target, T &&value, Operator &&op, CF__WHERE)
    -> decltype(op(value, value))
{
    typedef cf__value<T> Value;
    if constexpr (cf__is_large<Group>()) {
        return cf__scan_warps_update<false>(group, target, Value(value), op, file, line);
    } else {
        const Value scanned = cf__scan(group, Value(value), op, file, line);
        return op(cf__total_before(group, target, scanned, op, file, line), scanned);
    }
}

template <typename Group, typename Atomic, typename T>
CF__FN cf__value<T> inclusive_scan_update(const Group &group, Atomic &&target, T &&value, CF__WHERE)
{
    return inclusive_scan_update(group, target, value, plus<cf__value<T>>(), file, line);
}

template <typename Group, typename Atomic, typename T, typename Operator>
CF__FN auto exclusive_scan_update(const Group &group, Atomic &&target, T &&value, Operator &&op, CF__WHERE)
    -> decltype(op(value, value))
{
    typedef cf__value<T> Value;
    if constexpr (cf__is_large<Group>()) {
        return cf__scan_warps_update<true>(group, target, Value(value), op, file, line);
    } else {
        const Value scanned = cf__scan(group, Value(value), op, file, line);
        const Value before = cf__total_before(group, target, scanned, op, file, line);
        const Value below = group.shfl_up(scanned, 1, file, line);
        return group.thread_rank() == 0 ? before : op(before, below);
    }
}

template <typename Group, typename Atomic, typename T>
CF__FN cf__value<T> exclusive_scan_update(const Group &group, Atomic &&target, T &&value, CF__WHERE)
{
    return exclusive_scan_update(group, target, value, plus<cf__value<T>>(), file, line);
}

} /* namespace cooperative_groups */

/* ---- In a region of threads ---- */

/* Scans the values of a group, by rank, in the order of a GPU. The mask of a rank that gave no value is 0. */
template <bool is_exclusive, unsigned int Size, typename T, typename Operator>
static inline CF__INLINE CF__OF_BLOCK void cf__scan_ranks(T *values, const uint32_t *masks, Operator op)
{
    alignas(32) T sums[64] = {}, below[32]; /* the values stand in the upper half */
    for (int t = 0; t < 32; t++)
        sums[32 + t] = values[t];
    CF__UNROLL for (int distance = 1; distance < (int)Size; distance *= 2)
    {
        for (int t = 0; t < 32; t++)
            below[t] = sums[32 + t - distance];
        for (int t = 0; t < 32; t++)
            sums[32 + t] = masks[t] && t % (int)Size >= distance ? op(sums[32 + t], below[t]) : sums[32 + t];
    }
    for (int t = 0; t < 32; t++) {
        if constexpr (!is_exclusive)
            values[t] = sums[32 + t];
        else if constexpr (cooperative_groups::cf__is_integer_sum<T, Operator>::value)
            values[t] = (T)(sums[32 + t] - values[t]);
        else
            values[t] = t % (int)Size == 0 ? T() : sums[31 + t];
    }
}

/* Replaces the values of a warp's lanes by the results of a scan over the lanes in their mask. `Size`: the size of a
 * tile, 0 for other groups. The mask of a lane that gave no value is 0. */
template <bool is_exclusive, unsigned int Size, typename T, typename Operator>
static inline CF__INLINE CF__OF_BLOCK void cf__lanes_scan(T *values, const uint32_t *masks, Operator op)
{
    if constexpr (Size > 0)
        return cf__scan_ranks<is_exclusive, Size>(values, masks, op);
    uint32_t done = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (!masks[lane] || done >> lane & 1)
            continue;
        T ranked[32] = {};
        uint32_t given[32] = {};
        const uint32_t group = masks[lane];
        int rank = 0;
        for (uint32_t rest = group; rest; rest &= rest - 1, rank++) {
            ranked[rank] = values[__builtin_ctz(rest)];
            given[rank] = masks[__builtin_ctz(rest)];
        }
        cf__scan_ranks<is_exclusive, 32>(ranked, given, op);
        rank = 0;
        for (uint32_t rest = group; rest; rest &= rest - 1, rank++)
            if (given[rank])
                values[__builtin_ctz(rest)] = ranked[rank];
        done |= group;
    }
}

#endif
