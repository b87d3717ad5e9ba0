/* polynomial.h - 16 multiply-adds, for kernels and for loops. */
#ifndef POLYNOMIAL_H
#define POLYNOMIAL_H

#ifdef __CUDACC__
__host__ __device__
#endif
    static inline float
    polynomial_of(float x)
{
    float sum = 0.7f;
    sum = sum * x + 0.11f, sum = sum * x + 0.12f, sum = sum * x + 0.13f, sum = sum * x + 0.14f;
    sum = sum * x + 0.21f, sum = sum * x + 0.22f, sum = sum * x + 0.23f, sum = sum * x + 0.24f;
    sum = sum * x + 0.31f, sum = sum * x + 0.32f, sum = sum * x + 0.33f, sum = sum * x + 0.34f;
    sum = sum * x + 0.41f, sum = sum * x + 0.42f, sum = sum * x + 0.43f, sum = sum * x + 0.44f;
    return sum;
}

#endif
