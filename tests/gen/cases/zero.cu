// Scratch memory that is 0 when the kernel begins.
#include <stdint.h>

#define MANY (n > 1000)

/* Counts what is over a limit, in bins and in all. */
#pragma cf kernel grid(n) in(x[n]) out(y[1]) scratch(bins[64], work[MANY ? n : 0], rows[n][4]) \
    zero(bins, work[MANY], rows, y)
__global__ void count(const double *x, int64_t *y, unsigned int *bins, uint64_t *work, double *rows, int64_t n)
{
}

/* Set to 0 again, of two arrays one. */
#pragma cf kernel grid(n) scratch(done[4], left[n]) zero(left, done) rezero(done) out(y[n])
__global__ void again(int *done, int *left, int *y, int n)
{
}

/* Sections that do not begin at 0, and one of constants. */
#pragma cf kernel grid(n) scratch(a[k:n + 1], b[16]) zero(a[k + 1:n / 2], b[8:8]) out(y[n]) tune(BLOCK: 128, 256) \
    block(BLOCK)
#pragma cf instances(i64: int64_t)
template <typename T, int BLOCK> __global__ void shifted(T *a, int *b, T *y, int n, int k)
{
}
