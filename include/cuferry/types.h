/* types.h - C types for CUDA types that C lacks: vectors, 16-bit floats, complex numbers, tensor maps.
 *
 * Each type has the size and the members of its CUDA type; vectors and 16-bit floats have its alignment too. If a file
 * includes the toolkit's header of a type first, cf_float4 is float4 itself, and in C++ cf_half is __half itself, so
 * that arrays of both can be passed. A header that a kernel file shares with its callers includes this header and uses
 * these names; device code may use CUDA's names. */
#ifndef CUFERRY_TYPES_H
#define CUFERRY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C++" { /* valid inside extern "C" too */
#include <complex>
}
#endif

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

/* CUDA's name, element, alignment in bytes of the forms with 2 and 4 components. Forms with 1 and 3 components have the
 * alignment of the element. */
#define CF_VECTOR_LIST(X)                    \
    X(char, signed char, 2, 4)               \
    X(uchar, unsigned char, 2, 4)            \
    X(short, short, 4, 8)                    \
    X(ushort, unsigned short, 4, 8)          \
    X(int, int, 8, 16)                       \
    X(uint, unsigned int, 8, 16)             \
    X(long, long, 16, 16)                    \
    X(ulong, unsigned long, 16, 16)          \
    X(longlong, long long, 16, 16)           \
    X(ulonglong, unsigned long long, 16, 16) \
    X(float, float, 8, 16)                   \
    X(double, double, 16, 16)

/* Types whose 4-component form has two alignments in CUDA 13; double4_16a has the alignment of double4. */
#define CF_VECTOR_ALIGNED_LIST(X)    \
    X(long, long)                    \
    X(ulong, unsigned long)          \
    X(longlong, long long)           \
    X(ulonglong, unsigned long long) \
    X(double, double)

/* `name` is pasted immediately and never passed on, because programs define macros such as uint. */
#define CF__VECTOR(name, element, align2, align4)        \
    struct cf_##name##1                                  \
    {                                                    \
        element x;                                       \
    };                                                   \
    struct __attribute__((aligned(align2))) cf_##name##2 \
    {                                                    \
        element x, y;                                    \
    };                                                   \
    struct cf_##name##3                                  \
    {                                                    \
        element x, y, z;                                 \
    };                                                   \
    struct __attribute__((aligned(align4))) cf_##name##4 \
    {                                                    \
        element x, y, z, w;                              \
    };                                                   \
    typedef struct cf_##name##1 cf_##name##1;            \
    typedef struct cf_##name##2 cf_##name##2;            \
    typedef struct cf_##name##3 cf_##name##3;            \
    typedef struct cf_##name##4 cf_##name##4;
#define CF__VECTOR_ALIGNED(name, element)                \
    struct __attribute__((aligned(16))) cf_##name##4_16a \
    {                                                    \
        element x, y, z, w;                              \
    };                                                   \
    struct __attribute__((aligned(32))) cf_##name##4_32a \
    {                                                    \
        element x, y, z, w;                              \
    };                                                   \
    typedef struct cf_##name##4_16a cf_##name##4_16a;    \
    typedef struct cf_##name##4_32a cf_##name##4_32a;

#define CF__SAME_SHORT(name, element, align2, align4) \
    typedef struct name##1 cf_##name##1;              \
    typedef struct name##2 cf_##name##2;              \
    typedef struct name##3 cf_##name##3;
#define CF__SAME_VECTOR(name, element, align2, align4) \
    typedef struct name##1 cf_##name##1;               \
    typedef struct name##2 cf_##name##2;               \
    typedef struct name##3 cf_##name##3;               \
    typedef struct name##4 cf_##name##4;
#define CF__SAME_ALIGNED(name, element)          \
    typedef struct name##4_16a cf_##name##4_16a; \
    typedef struct name##4_32a cf_##name##4_32a;
#define CF__SUCCESSOR(name, element) typedef struct name##4_16a cf_##name##4;

#if !defined __VECTOR_TYPES_H__ /* guard of the toolkit's header */
CF_VECTOR_LIST(CF__VECTOR)
CF_VECTOR_ALIGNED_LIST(CF__VECTOR_ALIGNED)
#elif !defined __NV_SILENCE_DEPRECATION_BEGIN || (defined CUDART_VERSION && CUDART_VERSION < 13000) /* before CUDA 13 */
CF_VECTOR_LIST(CF__SAME_VECTOR)
CF_VECTOR_ALIGNED_LIST(CF__VECTOR_ALIGNED)
#elif !defined __clang__ || defined __CUDACC__ /* silences the deprecation of double4 and others */
__NV_SILENCE_DEPRECATION_BEGIN
CF_VECTOR_LIST(CF__SAME_VECTOR)
__NV_SILENCE_DEPRECATION_END
CF_VECTOR_ALIGNED_LIST(CF__SAME_ALIGNED)
#else /* clang would warn at each use of cf_double4: there it is double4_16a, the successor of double4 */
CF_VECTOR_LIST(CF__SAME_SHORT)
CF_VECTOR_ALIGNED_LIST(CF__SUCCESSOR)
typedef struct char4 cf_char4;
typedef struct uchar4 cf_uchar4;
typedef struct short4 cf_short4;
typedef struct ushort4 cf_ushort4;
typedef struct int4 cf_int4;
typedef struct uint4 cf_uint4;
typedef struct float4 cf_float4;
CF_VECTOR_ALIGNED_LIST(CF__SAME_ALIGNED)
#endif

#undef CF__VECTOR
#undef CF__VECTOR_ALIGNED
#undef CF__SAME_VECTOR
#undef CF__SAME_SHORT
#undef CF__SAME_ALIGNED
#undef CF__SUCCESSOR

/* ---- 16-bit floats --------------------------------------------------------------------------------------------- */

/* IEEE 754 binary16 (__half) and bfloat16 (__nv_bfloat16) as bits, which cf_float_read() and cf_float_write() of
 * <cuferry/scalar.h> convert. If the compiler has _Float16 or __bf16, arrays of these types can be passed with a cast
 * to cf_half * or cf_bfloat16 *. */
#if defined __cplusplus && defined __CUDA_FP16_H__ /* guard of the toolkit's header */
typedef __half cf_half;
typedef __half2 cf_half2;
#else
typedef struct cf_half {
    uint16_t bits;
} cf_half;

typedef struct cf_half2 {
    cf_half x, y;
} __attribute__((aligned(4))) cf_half2;
#endif

#if defined __cplusplus && defined __CUDA_BF16_H__
typedef __nv_bfloat16 cf_bfloat16;
typedef __nv_bfloat162 cf_bfloat162;
#else
typedef struct cf_bfloat16 {
    uint16_t bits;
} cf_bfloat16;

typedef struct cf_bfloat162 {
    cf_bfloat16 x, y;
} __attribute__((aligned(4))) cf_bfloat162;
#endif

/* ---- 8-bit floats ---------------------------------------------------------------------------------------------- */

/* __nv_fp8_e4m3, which has no infinity, and __nv_fp8_e5m2 as bits; <cuferry/scalar.h> converts them, too. */
#if defined __cplusplus && defined __CUDA_FP8_H__
typedef __nv_fp8_e4m3 cf_fp8_e4m3;
typedef __nv_fp8_e5m2 cf_fp8_e5m2;
#else
typedef struct cf_fp8_e4m3 {
    uint8_t bits;
} cf_fp8_e4m3;

typedef struct cf_fp8_e5m2 {
    uint8_t bits;
} cf_fp8_e5m2;
#endif

/* ---- Complex numbers ------------------------------------------------------------------------------------------- */

/* C types of cuFloatComplex, thrust::complex<float> and cuda::std::complex<float>, and of their double forms. CUDA
 * aligns a complex number to its size, C aligns it like its parts. */
#ifdef __cplusplus
typedef std::complex<float> cf_complex64;
typedef std::complex<double> cf_complex128;
#else
typedef float _Complex cf_complex64;
typedef double _Complex cf_complex128;
#endif

/* ---- Tensor maps ------------------------------------------------------------------------------------------------ */

/* CUtensorMap, with the larger of its alignments in CUDA 12 and 13, so that one call fits both. Declare the map with
 * this type and pass its address to cuTensorMapEncodeTiled() with a cast to CUtensorMap *. */
typedef struct cf_tensor_map {
    uint64_t opaque[16];
} __attribute__((aligned(128))) cf_tensor_map;

/* ---- Types of kernel files ------------------------------------------------------------------------------------- */

/* For generated headers: these fail to compile unless a type has the layout that was also asserted when the kernels
 * were compiled. C99 has no such assertions. */
#if defined __cplusplus
#define CF__ASSERTED(condition, text) static_assert(condition, text)
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define CF__ASSERTED(condition, text) _Static_assert(condition, text)
#else
#define CF__ASSERTED(condition, text) struct cf__asserted
#endif
#define CF__SIZED_TYPE(type, bytes, align)                                \
    CF__ASSERTED(sizeof(type) == (bytes) && __alignof__(type) == (align), \
                 #type " is another type in a kernel file; compile both with one declaration and its macros")
#define CF__PLACED_MEMBER(type, member, offset)                        \
    CF__ASSERTED(__builtin_offsetof(type, member) == (offset), #member \
                 " has another place in " #type " of a kernel file; compile both with one declaration and its macros")

#endif
