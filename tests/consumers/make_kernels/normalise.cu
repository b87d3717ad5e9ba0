// normalise.cu - an operation that makes two launches; normalise.c defines it.
#include <stdint.h>

#pragma cf kernel internal grid(n) in(total[1]) inout(x[n])
__global__ void divide(double *x, const double *total, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] /= *total;
}

/* Divides x by the sum of its elements. */
#pragma cf operation inout(x[n]) scratch(total[1]) uses(cf_sum_f64, divide)
void normalise(double *x, double *total, int64_t n);
