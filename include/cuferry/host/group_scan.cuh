/* group_scan.cuh - cooperative_groups: operators, and scans over the threads of a tile or of a coalesced group. */
#ifndef CUFERRY_HOST_GROUP_SCAN_CUH
#define CUFERRY_HOST_GROUP_SCAN_CUH

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

/* ---- Scans ---- */

/* In the order in which GPUs combine values: what is 1 below, then 2, 4 and so on. */
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
CF__FN auto inclusive_scan(const Group &group, T &&value, Operator &&op, CF__WHERE) -> decltype(op(value, value))
{
    return cf__scan(group, cf__value<T>(value), op, file, line);
}

template <typename Group, typename T> CF__FN cf__value<T> inclusive_scan(const Group &group, T &&value, CF__WHERE)
{
    plus<cf__value<T>> op;
    return cf__scan(group, cf__value<T>(value), op, file, line);
}

/* The first thread gets an empty value. */
template <typename Group, typename T, typename Operator>
CF__FN auto exclusive_scan(const Group &group, T &&value, Operator &&op, CF__WHERE) -> decltype(op(value, value))
{
    typedef cf__value<T> Value;
    const Value own = value, scanned = cf__scan(group, own, op, file, line);
    if constexpr (cf__is_integer_sum<Value, cf__value<Operator>>::value) {
        return (Value)(scanned - own);
    } else {
        const Value below = group.shfl_up(scanned, 1, file, line);
        return group.thread_rank() == 0 ? Value{} : below;
    }
}

template <typename Group, typename T> CF__FN cf__value<T> exclusive_scan(const Group &group, T &&value, CF__WHERE)
{
    return exclusive_scan(group, value, plus<cf__value<T>>(), file, line);
}

/* ---- Scans that go on from what an atomic object holds, and leave the sum of all there ---- */

/* Combines an atomic object with a value; gives what stood there before. */
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

template <typename Group, typename Atomic, typename T, typename Operator>
CF__FN auto inclusive_scan_update(const Group &group, Atomic &&target, T &&value, Operator &&op, CF__WHERE)
    -> decltype(op(value, value))
{
    const cf__value<T> scanned = cf__scan(group, cf__value<T>(value), op, file, line);
    return op(cf__total_before(group, target, scanned, op, file, line), scanned);
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
    const Value scanned = cf__scan(group, Value(value), op, file, line);
    const Value before = cf__total_before(group, target, scanned, op, file, line);
    const Value below = group.shfl_up(scanned, 1, file, line);
    return group.thread_rank() == 0 ? before : op(before, below);
}

template <typename Group, typename Atomic, typename T>
CF__FN cf__value<T> exclusive_scan_update(const Group &group, Atomic &&target, T &&value, CF__WHERE)
{
    return exclusive_scan_update(group, target, value, plus<cf__value<T>>(), file, line);
}

} /* namespace cooperative_groups */

#endif
