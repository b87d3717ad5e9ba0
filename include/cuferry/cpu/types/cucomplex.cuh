/* cucomplex.cuh - cuFloatComplex and cuDoubleComplex, which are float2 and double2. */
#ifndef CUFERRY_CPU_CUCOMPLEX_CUH
#define CUFERRY_CPU_CUCOMPLEX_CUH

#include <math.h>

#include <cuferry/cpu/words.cuh>

#include "complex.cuh"
#include "vector.cuh"

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

#define CF__CUCOMPLEX(Complex, T, suffix)                                                          \
    CF__FN Complex make_##Complex(T re, T im)                                                      \
    {                                                                                              \
        return {re, im};                                                                           \
    }                                                                                              \
    CF__FN T cuCreal##suffix(Complex z)                                                            \
    {                                                                                              \
        return z.x;                                                                                \
    }                                                                                              \
    CF__FN T cuCimag##suffix(Complex z)                                                            \
    {                                                                                              \
        return z.y;                                                                                \
    }                                                                                              \
    CF__FN Complex cuConj##suffix(Complex z)                                                       \
    {                                                                                              \
        return {z.x, -z.y};                                                                        \
    }                                                                                              \
    CF__FN Complex cuCadd##suffix(Complex a, Complex b)                                            \
    {                                                                                              \
        return {a.x + b.x, a.y + b.y};                                                             \
    }                                                                                              \
    CF__FN Complex cuCsub##suffix(Complex a, Complex b)                                            \
    {                                                                                              \
        return {a.x - b.x, a.y - b.y};                                                             \
    }                                                                                              \
    CF__FN Complex cuCmul##suffix(Complex a, Complex b)                                            \
    {                                                                                              \
        return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                     \
    }                                                                                              \
    CF__FN Complex cuCdiv##suffix(Complex a, Complex b)                                            \
    {                                                                                              \
        const cf__::complex<T> quotient = cf__::complex<T>(a.x, a.y) / cf__::complex<T>(b.x, b.y); \
        return {quotient.real(), quotient.imag()};                                                 \
    }                                                                                              \
    CF__FN T cuCabs##suffix(Complex z)                                                             \
    {                                                                                              \
        return hypot(z.x, z.y);                                                                    \
    }                                                                                              \
    CF__FN Complex cuCfma##suffix(Complex a, Complex b, Complex c)                                 \
    {                                                                                              \
        return cuCadd##suffix(cuCmul##suffix(a, b), c);                                            \
    }
CF__CUCOMPLEX(cuFloatComplex, float, f)
CF__CUCOMPLEX(cuDoubleComplex, double, )
#undef CF__CUCOMPLEX

CF__FN cuComplex make_cuComplex(float re, float im)
{
    return {re, im};
}

CF__FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z)
{
    return {z.x, z.y};
}

CF__FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return {(float)z.x, (float)z.y};
}

#endif
