/* complex.cu - cuComplex.h, thrust::complex and cuda::std::complex: layout, arithmetic, functions. */
#include <cuComplex.h>
#include <cuda/std/complex>
#include <thrust/complex.h>

#include "expect.h"

#include <cuferry/types.h>

static_assert(sizeof(cuFloatComplex) == sizeof(cf_complex64) && alignof(cuFloatComplex) == 8, "cuFloatComplex");
static_assert(sizeof(cuDoubleComplex) == sizeof(cf_complex128) && alignof(cuDoubleComplex) == 16, "cuDoubleComplex");
static_assert(sizeof(thrust::complex<float>) == 8 && alignof(thrust::complex<float>) == 8, "thrust::complex<float>");
static_assert(sizeof(thrust::complex<double>) == 16 && alignof(thrust::complex<double>) == 16,
              "thrust::complex<double>");
static_assert(sizeof(cuda::std::complex<float>) == 8 && alignof(cuda::std::complex<float>) == 8, "cuda::std::complex");

template <typename Complex> __device__ bool near(Complex z, double re, double im)
{
    return fabs(z.real() - re) < 1e-6 && fabs(z.imag() - im) < 1e-6;
}

template <typename Complex> __device__ void check_class(int *wrong)
{
    typedef typename Complex::value_type T;
    Complex a(1, 2), b(3, -4), c;
    c = a;
    EXPECT(c == a && a != b && near(a + b, 4, -2) && near(a - b, -2, 6) && near(a * b, 11, 2) &&
           near(a / b, -0.2, 0.4));
    EXPECT(near(-a, -1, -2) && near(a * T(2), 2, 4) && near(T(2) * a, 2, 4) && near(a + T(1), 2, 2) &&
           near(T(1) - a, 0, -2));
    EXPECT(near(a / T(2), 0.5, 1) && near(T(5) / a, 1, -2));
    c += b;
    EXPECT(near(c, 4, -2));
    c -= b;
    c *= b;
    EXPECT(near(c, 11, 2));
    c /= b;
    EXPECT(near(c, 1, 2));
    c = T(3);
    EXPECT(near(c, 3, 0));
    c.imag(5);
    c.real(6);
    EXPECT(near(c, 6, 5));
    EXPECT(abs(b) == 5 && norm(b) == 25 && near(conj(a), 1, -2) && fabs(arg(Complex(0, 2)) - 1.5707963) < 1e-6);
    EXPECT(near(sqrt(Complex(-4, 0)), 0, 2) && near(exp(Complex(0, T(3.14159265358979))), -1, 0));
    EXPECT(near(log(Complex(1, 0)), 0, 0) && near(pow(a, Complex(2, 0)), -3, 4) && near(pow(a, T(2)), -3, 4));
    EXPECT(near(sin(Complex(1, 0)), 0.8414710, 0) && near(cos(Complex(0, 1)), 1.5430806, 0) &&
           near(tanh(Complex(1, 0)), 0.7615942, 0));
}

__global__ void check(int *wrong)
{
    check_class<thrust::complex<float>>(wrong);
    check_class<thrust::complex<double>>(wrong);
    check_class<cuda::std::complex<float>>(wrong);
    check_class<cuda::std::complex<double>>(wrong);
    EXPECT(near(thrust::polar(2.0, 0.0), 2, 0) && thrust::abs(thrust::complex<float>(3, 4)) == 5);
    EXPECT(near(cuda::std::polar(2.0, 0.0), 2, 0) && cuda::std::abs(cuda::std::complex<float>(3, 4)) == 5);
    thrust::complex<double> wide = thrust::complex<float>(1, 2);
    EXPECT(near(wide, 1, 2));
    /* abs() and / must not square the parts, since the squares would overflow. */
    EXPECT(abs(thrust::complex<float>(1e30f, 1e30f)) < 1.5e30f &&
           near(thrust::complex<float>(1e30f, 0) / thrust::complex<float>(1e30f, 0), 1, 0));

    cuFloatComplex a = make_cuFloatComplex(1, 2), b = make_cuFloatComplex(3, -4);
    EXPECT(cuCrealf(cuCaddf(a, b)) == 4 && cuCimagf(cuCsubf(a, b)) == 6 && cuCrealf(cuCmulf(a, b)) == 11 &&
           cuCimagf(cuCmulf(a, b)) == 2);
    EXPECT(fabsf(cuCdivf(a, b).x + 0.2f) < 1e-6f && fabsf(cuCdivf(a, b).y - 0.4f) < 1e-6f && cuCabsf(b) == 5 &&
           cuConjf(a).y == -2);
    EXPECT(cuCfmaf(a, b, a).x == 12 && make_cuComplex(1, 2).y == 2);
    cuDoubleComplex c = cuComplexFloatToDouble(a), d = make_cuDoubleComplex(3, -4);
    EXPECT(cuCreal(cuCadd(c, d)) == 4 && cuCimag(cuCsub(c, d)) == 6 && cuCmul(c, d).x == 11 &&
           fabs(cuCdiv(c, d).x + 0.2) < 1e-12);
    EXPECT(cuCabs(d) == 5 && cuConj(c).y == -2 && cuCfma(c, d, c).y == 4 && cuComplexDoubleToFloat(d).x == 3);
}

EXPECT_RUN
