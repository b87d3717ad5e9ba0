/* atomics.cuh - atomicAdd() and similar functions: relaxed, and atomic among all CPU threads in every scope. */
#ifndef CUFERRY_CPU_ATOMICS_CUH
#define CUFERRY_CPU_ATOMICS_CUH

#include <cuferry/cpu/types/vector.cuh>
#include <cuferry/cpu/words.cuh>

/* Replaces *address by change(*address). Like all functions here, it returns the old value. */
template <typename T, typename Change> CF__FN T cf__atomic(T *address, Change change)
{
    T old, changed;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    do
        changed = change(old);
    while (!__atomic_compare_exchange(address, &old, &changed, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

/* Replaces *address by `value` if worse(*address, value) is true, and returns the old value. */
template <typename T, typename Worse> CF__FN T cf__atomic_better(T *address, T value, Worse worse)
{
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    while (worse(old, value))
        if (__atomic_compare_exchange(address, &old, &value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
    return old;
}

/* Defines a function in CUDA's three scopes. */
#define CF__ATOMIC(name, T, parameters, arguments, ...)                    \
    CF__FN T name parameters{__VA_ARGS__} CF__FN T name##_block parameters \
    {                                                                      \
        return name arguments;                                             \
    }                                                                      \
    CF__FN T name##_system parameters                                      \
    {                                                                      \
        return name arguments;                                             \
    }

#define CF__ATOMIC_ONE(name, T, ...) CF__ATOMIC(name, T, (T * address, T value), (address, value), __VA_ARGS__)

/* ---- Every integer type ---- */

#define CF__ATOMIC_INTEGER(T)                                                                             \
    CF__ATOMIC_ONE(atomicAdd, T, return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);)            \
    CF__ATOMIC_ONE(atomicExch, T, return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);)          \
    CF__ATOMIC_ONE(atomicMin, T,                                                                          \
                   return cf__atomic_better(address, value, [](T old, T other) { return other < old; });) \
    CF__ATOMIC_ONE(atomicMax, T,                                                                          \
                   return cf__atomic_better(address, value, [](T old, T other) { return old < other; });) \
    CF__ATOMIC_ONE(atomicAnd, T, return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);)            \
    CF__ATOMIC_ONE(atomicOr, T, return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);)              \
    CF__ATOMIC_ONE(atomicXor, T, return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);)
CF__ATOMIC_INTEGER(int)
CF__ATOMIC_INTEGER(unsigned int)
CF__ATOMIC_INTEGER(unsigned long long)
#undef CF__ATOMIC_INTEGER

/* CUDA declares no atomicAdd() and no atomicExch() for long long. */
CF__ATOMIC_ONE(atomicMin, long long,
               return cf__atomic_better(address, value, [](long long old, long long other) { return other < old; });)
CF__ATOMIC_ONE(atomicMax, long long,
               return cf__atomic_better(address, value, [](long long old, long long other) { return old < other; });)
CF__ATOMIC_ONE(atomicAnd, long long, return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);)
CF__ATOMIC_ONE(atomicOr, long long, return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);)
CF__ATOMIC_ONE(atomicXor, long long, return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);)

CF__ATOMIC_ONE(atomicSub, int, return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);)
CF__ATOMIC_ONE(atomicSub, unsigned int, return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);)

/* atomicInc() counts up to `value` and continues at 0; atomicDec() counts down to 0 and continues at `value`. */
CF__ATOMIC_ONE(atomicInc, unsigned int,
               return cf__atomic(address, [=](unsigned int old) { return old >= value ? 0 : old + 1; });)
CF__ATOMIC_ONE(atomicDec, unsigned int,
               return cf__atomic(address, [=](unsigned int old) { return old == 0 || old > value ? value : old - 1; });)

#define CF__ATOMIC_CAS(T)                                                                                        \
    CF__ATOMIC(atomicCAS, T, (T * address, T compare, T value), (address, compare, value),                       \
               __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
               return compare;)
CF__ATOMIC_CAS(int)
CF__ATOMIC_CAS(unsigned int)
CF__ATOMIC_CAS(unsigned long long)
CF__ATOMIC_CAS(unsigned short)
#undef CF__ATOMIC_CAS

/* ---- Floating-point types ---- */

CF__ATOMIC_ONE(atomicAdd, float, return cf__atomic(address, [=](float old) { return old + value; });)
CF__ATOMIC_ONE(atomicAdd, double, return cf__atomic(address, [=](double old) { return old + value; });)
CF__ATOMIC_ONE(atomicExch, float, float old; __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED); return old;)

/* Each component is added atomically. The vector as a whole is not. */
CF__ATOMIC_ONE(atomicAdd, float2, return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};)
CF__ATOMIC_ONE(atomicAdd, float4,
               return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
                       atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};)

#endif
