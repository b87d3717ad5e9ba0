/* types.h - C types for what CUDA kernels take beside C's own scalars: vectors, 16-bit floats, complex numbers.
 *
 * Each has the size and the alignment of the CUDA type it stands for. In a file that has included a header of the
 * toolkit's before this one, cf_float4 is float4 itself, so that arrays of either pass as the other. A header that a kernel file shares with its
 * callers includes this one and uses these names; device code may use CUDA's. */
#ifndef CUFERRY_TYPES_H
#define CUFERRY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <complex>
#endif

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

/* CUDA's name, element, alignment of the forms with 2 and with 4 components; 1 and 3 are aligned as the element is. */
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

#if defined __VECTOR_TYPES_H__ /* the toolkit's */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* double4 and the like, since CUDA 13 */
#define CF__VECTOR(name, element, align2, align4) \
    typedef struct name##1 cf_##name##1;          \
    typedef struct name##2 cf_##name##2;          \
    typedef struct name##3 cf_##name##3;          \
    typedef struct name##4 cf_##name##4;
#else
#define CF__VECTOR(name, element, align2, align4)    \
    typedef struct {                                 \
        element x;                                   \
    } cf_##name##1;                                  \
    typedef struct {                                 \
        element x, y;                                \
    } __attribute__((aligned(align2))) cf_##name##2; \
    typedef struct {                                 \
        element x, y, z;                             \
    } cf_##name##3;                                  \
    typedef struct {                                 \
        element x, y, z, w;                          \
    } __attribute__((aligned(align4))) cf_##name##4;
#endif
CF_VECTOR_LIST(CF__VECTOR)
#undef CF__VECTOR
#if defined __VECTOR_TYPES_H__
#pragma GCC diagnostic pop
#endif

/* ---- 16-bit floats --------------------------------------------------------------------------------------------- */

/* IEEE 754 binary16 (__half) and bfloat16 (__nv_bfloat16), by their bits. */
typedef struct cf_half {
    uint16_t bits;
} cf_half;

typedef struct cf_bfloat16 {
    uint16_t bits;
} cf_bfloat16;

typedef struct {
    cf_half x, y;
} __attribute__((aligned(4))) cf_half2;

typedef struct {
    cf_bfloat16 x, y;
} __attribute__((aligned(4))) cf_bfloat162;

/* ---- Complex numbers ------------------------------------------------------------------------------------------- */

/* Stand for cuFloatComplex, thrust::complex<float> and cuda::std::complex<float>, and the same of double. */
#ifdef __cplusplus
typedef std::complex<float> cf_complex64;
typedef std::complex<double> cf_complex128;
#else
typedef float _Complex cf_complex64;
typedef double _Complex cf_complex128;
#endif

#endif
