/* atomics.cu - every atomic function on every type: the new value in memory, and the old value that it returns. */
#include "expect.h"

__device__ double2 memory;

#define AFTER(type, before, function, expected, ...)                 \
    do {                                                             \
        type *value = (type *)(void *)&memory;                       \
        *value = (type)(before);                                     \
        type old = function(value, __VA_ARGS__);                     \
        EXPECT(*value == (type)(expected) && old == (type)(before)); \
    } while (0)

template <typename T> __device__ void check_integer(int *wrong)
{
    AFTER(T, 5, atomicAdd, 12, (T)7);
    AFTER(T, 5, atomicExch, 7, (T)7);
    AFTER(T, 5, atomicMin, 3, (T)3);
    AFTER(T, 5, atomicMin, 5, (T)7);
    AFTER(T, 5, atomicMax, 7, (T)7);
    AFTER(T, 5, atomicMax, 5, (T)3);
    AFTER(T, 6, atomicAnd, 2, (T)3);
    AFTER(T, 6, atomicOr, 7, (T)3);
    AFTER(T, 6, atomicXor, 5, (T)3);
    AFTER(T, 6, atomicCAS, 9, (T)6, (T)9);
    AFTER(T, 6, atomicCAS, 6, (T)5, (T)9);
}

__global__ void check(int *wrong)
{
    check_integer<int>(wrong);
    check_integer<unsigned int>(wrong);
    check_integer<unsigned long long>(wrong);
    AFTER(int, 5, atomicSub, -2, 7);
    AFTER(unsigned int, 5, atomicSub, -2, 7u);
    AFTER(int, -5, atomicMin, -5, 3);
    AFTER(unsigned int, -5, atomicMin, 3, 3u);
    AFTER(long long, -5, atomicMax, 3, 3ll);
    AFTER(long long, -5, atomicMin, -6, -6ll);
    AFTER(long long, 6, atomicAnd, 2, 3ll);
    AFTER(long long, 6, atomicOr, 7, 3ll);
    AFTER(long long, 6, atomicXor, 5, 3ll);
    AFTER(unsigned int, 5, atomicInc, 6, 6u);
    AFTER(unsigned int, 6, atomicInc, 0, 6u);
    AFTER(unsigned int, 9, atomicInc, 0, 6u);
    AFTER(unsigned int, 5, atomicDec, 4, 6u);
    AFTER(unsigned int, 0, atomicDec, 6, 6u);
    AFTER(unsigned int, 9, atomicDec, 6, 6u);
    AFTER(unsigned short, 6, atomicCAS, 9, (unsigned short)6, (unsigned short)9);
    AFTER(float, 1.5, atomicAdd, 2, 0.5f);
    AFTER(double, 1.5, atomicAdd, 2, 0.5);
    AFTER(float, 1.5, atomicExch, 0.5, 0.5f);
    AFTER(int, 5, atomicAdd_block, 12, 7);
    AFTER(float, 5, atomicAdd_system, 12, 7);
    AFTER(unsigned long long, 5, atomicMax_block, 7, 7ull);
    AFTER(unsigned int, 5, atomicCAS_system, 7, 5u, 7u);

    float2 *pair = (float2 *)(void *)&memory;
    __stcg(pair, make_float2(1, 2));
    __stcs(&pair->y, 6);
    EXPECT(__ldcg(pair).x == 1 && __ldcs(&pair->y) == 6 && __ldg((const float *)pair) == 1);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    long long before = clock64();
    EXPECT(clock64() >= before);
}

EXPECT_RUN
