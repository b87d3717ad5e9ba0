/* nv_atomic.cuh - __nv_atomic_fetch_add() and similar functions: atomic among all CPU threads in every scope. */
#ifndef CUFERRY_CPU_NV_ATOMIC_CUH
#define CUFERRY_CPU_NV_ATOMIC_CUH

#include <cuferry/cpu/words.cuh>

#include "wide_atomics.cuh"

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST

#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

/* The last parameter of these functions, the scope, is optional. */
#define CF__SCOPE int = __NV_THREAD_SCOPE_SYSTEM

/* The type of an operand, which is deduced from the pointer alone. */
template <typename T> struct cf__operand {
    typedef T type;
};

template <typename T> CF__FN void __nv_atomic_load(const T *address, T *value, int order, CF__SCOPE)
{
    if constexpr (sizeof(T) == 16)
        *value = cf__compare_and_swap128(const_cast<T *>(address), *value, *value, order);
    else
        __atomic_load(address, value, order);
}

template <typename T> CF__FN T __nv_atomic_load_n(const T *address, int order, CF__SCOPE)
{
    return __atomic_load_n(address, order);
}

template <typename T> CF__FN void __nv_atomic_store(T *address, T *value, int order, CF__SCOPE)
{
    if constexpr (sizeof(T) == 16)
        (void)cf__swap128(address, *value, order);
    else
        __atomic_store(address, value, order);
}

template <typename T>
CF__FN void __nv_atomic_store_n(T *address, typename cf__operand<T>::type value, int order, CF__SCOPE)
{
    __atomic_store(address, &value, order);
}

template <typename T> CF__FN void __nv_atomic_exchange(T *address, T *value, T *old, int order, CF__SCOPE)
{
    if constexpr (sizeof(T) == 16)
        *old = cf__swap128(address, *value, order);
    else
        __atomic_exchange(address, value, old, order);
}

template <typename T>
CF__FN T __nv_atomic_exchange_n(T *address, typename cf__operand<T>::type value, int order, CF__SCOPE)
{
    T old;
    __atomic_exchange(address, &value, &old, order);
    return old;
}

template <typename T>
CF__FN bool __nv_atomic_compare_exchange(T *address, T *expected, T *value, bool is_weak, int success, int failure,
                                         CF__SCOPE)
{
    if constexpr (sizeof(T) == 16) {
        const T old = cf__compare_and_swap128(address, *expected, *value, success);
        const bool is_equal = cf__to_bits128(old) == cf__to_bits128(*expected);
        *expected = old;
        return is_equal;
    } else {
        return __atomic_compare_exchange(address, expected, value, is_weak, success, failure);
    }
}

template <typename T>
CF__FN bool __nv_atomic_compare_exchange_n(T *address, T *expected, typename cf__operand<T>::type value, bool is_weak,
                                           int success, int failure, CF__SCOPE)
{
    return __atomic_compare_exchange(address, expected, &value, is_weak, success, failure);
}

#define CF__FETCH(name, result)                                                                              \
    template <typename T>                                                                                    \
    CF__FN T __nv_atomic_fetch_##name(T *address, typename cf__operand<T>::type value, int order, CF__SCOPE) \
    {                                                                                                        \
        T old, changed;                                                                                      \
        __atomic_load(address, &old, __ATOMIC_RELAXED);                                                      \
        do                                                                                                   \
            changed = (T)(result);                                                                           \
        while (!__atomic_compare_exchange(address, &old, &changed, true, order, __ATOMIC_RELAXED));          \
        return old;                                                                                          \
    }
CF__FETCH(add, old + value)
CF__FETCH(sub, old - value)
CF__FETCH(min, value < old ? value : old)
CF__FETCH(max, old < value ? value : old)
CF__FETCH(and, old &value)
CF__FETCH(or, old | value)
CF__FETCH(xor, old ^ value)
#undef CF__FETCH
#undef CF__SCOPE

CF__FN void __nv_atomic_thread_fence(int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    __atomic_thread_fence(order);
}

#endif
