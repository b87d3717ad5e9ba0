// Arrays that may be the same array, but may not overlap in part.
#include <stdint.h>

// One list; what is read may overlap.
#pragma cf kernel grid(n) in(x[n], y[n]) out(z[n]) inplace(x, y, z) tolerance(is_integral(T) ? 0 : 1e-6)
#pragma cf instances(f32: float; i32: int32_t; bytes: bool)
template <typename T> __global__ void add(const T *x, const T *y, T *z, int n)
{
}

// Two lists, in two ways to write them, beside an array that is apart from all that is written.
#pragma cf kernel grid(rows, cols) in(a[rows][cols], b[rows][cols], weight[cols]) out(c[rows][cols]) inout(d[rows][cols]) \
    inplace(a, c; b, d;) pitch(a: ld; b: ld; c: ld; d: ld)
__global__ void both(const double *a, const double *b, const double *__restrict__ weight, double *c, double *d, int rows,
                     int cols, int ld)
{
}

#pragma cf kernel grid(n) in(a[n], b[n]) out(c[n]) inout(d[n]) scratch(e[n]) inplace(a, c) inplace(b, d)
__global__ void again(const double *a, const double *b, double *c, double *d, double *e, int n)
{
}

// Elements of other sizes, which no call can take in place, beside some of the same.
#pragma cf kernel grid(n) in(x[n]) out(y[n]) inplace(x, y) host(grid((n + m - 1) / m))
#pragma cf instances(f32_f32: float, float; f32_f64: float, double)
template <typename T, typename U> __global__ void convert(const T *x, U *y, int n, int m)
{
}

// Of two constants that are tuned some combinations are none.
#pragma cf kernel grid(n) inout(x[n]) block(BLOCK) tune(BLOCK: 128, 256; ITEMS: 1, 8) check(BLOCK * ITEMS <= 1024)
template <int BLOCK, int ITEMS> __global__ void tuned(float *x, int n)
{
}

// The CPU's grid is the GPU's, and no other.
#pragma cf kernel grid(n) items(4) inout(x[n]) host(grid(n))
__global__ void as_many(float *x, int n)
{
}
