/* types - every scalar type, overloads, and instances that differ in scalars alone: no type-generic form. */
#include <stddef.h>
#include <stdint.h>

#pragma cf kernel grid(n) out(a[n], b[n], c[n], d[n], e[n], f[n], g[n], h[n]) in(i[n], j[n])
__global__ void everything(int8_t *a, int16_t *b, int32_t *c, int64_t *d, uint8_t *e, uint16_t *f, uint32_t *g,
                           uint64_t *h, const float *i, const double *j, long unsigned int n)
{
}

#pragma cf kernel grid(n) out(x[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void set(int *x, int n, T value)
{
}

#pragma cf kernel grid(n) in(x[n]) check(lower <= x[:] < upper, 10 > x[:])
#pragma cf instances(i32: int; i64: int64_t)
template <typename T> __global__ void ranged(const T *x, int64_t n, int64_t lower, int64_t upper)
{
}
