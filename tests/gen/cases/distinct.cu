// Arrays whose elements have to differ from one another.
#include <stdint.h>

/* Moves y[i] to z[to[i]], and swaps elements of w by pairs. */
#pragma cf kernel grid(n) in(y[n], to[n]) inout(pairs[n / 2][2], z[n], w[n]) \
    check(distinct(to), distinct(pairs))
__global__ void move(const double *y, const uint32_t *to, int64_t *pairs, double *z, double *w, int n)
{
}

#pragma cf kernel grid(n) in(index[n]) inout(z[n]) check(0 <= index[:] < n, distinct(index)) tune(BLOCK: 128, 256) \
    block(BLOCK)
#pragma cf instances(f32: float, int32_t; f64: double, int64_t)
template <typename T, typename I, int BLOCK> __global__ void mark(const I *index, T *z, int n)
{
}
