/* make_vector.cuh - make_float4() and similar functions. */
#ifndef CUFERRY_CPU_MAKE_VECTOR_CUH
#define CUFERRY_CPU_MAKE_VECTOR_CUH

#include <cuferry/cpu/words.cuh>

#include "convert.cuh"
#include "vector.cuh"

#define __VECTOR_FUNCTIONS_H__

#define CF__MAKE(name, element, align2, align4)                                                               \
    CF__FN name##1 make_##name##1(cf__to<element> x)                                                          \
    {                                                                                                         \
        return {x};                                                                                           \
    }                                                                                                         \
    CF__FN name##2 make_##name##2(cf__to<element> x, cf__to<element> y)                                       \
    {                                                                                                         \
        return {x, y};                                                                                        \
    }                                                                                                         \
    CF__FN name##3 make_##name##3(cf__to<element> x, cf__to<element> y, cf__to<element> z)                    \
    {                                                                                                         \
        return {x, y, z};                                                                                     \
    }                                                                                                         \
    CF__FN name##4 make_##name##4(cf__to<element> x, cf__to<element> y, cf__to<element> z, cf__to<element> w) \
    {                                                                                                         \
        return {x, y, z, w};                                                                                  \
    }
CF__VECTORS(CF__MAKE)
#undef CF__MAKE

#define CF__MAKE_ALIGNED(name, element)                                                                               \
    CF__FN name##4_16a make_##name##4_16a(cf__to<element> x, cf__to<element> y, cf__to<element> z, cf__to<element> w) \
    {                                                                                                                 \
        return {x, y, z, w};                                                                                          \
    }                                                                                                                 \
    CF__FN name##4_32a make_##name##4_32a(cf__to<element> x, cf__to<element> y, cf__to<element> z, cf__to<element> w) \
    {                                                                                                                 \
        return {x, y, z, w};                                                                                          \
    }
CF__VECTORS_ALIGNED(CF__MAKE_ALIGNED)
#undef CF__MAKE_ALIGNED

#endif
