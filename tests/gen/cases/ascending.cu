// Arrays whose elements must not descend.
#include <stdint.h>

/* Sums of rows of x, which begin where first says; names of rows ascend, too, and differ. */
#pragma cf kernel grid(rows) in(first[rows + 1], name[rows], x[n]) inout(order[rows]) out(sum[rows]) \
    check(ascending(first), 0 <= first[:] <= n, rows < 1000) check(ascending(order), ascending(name), distinct(name))
#pragma cf instances(f32: float, int32_t; f64: double, int64_t)
template <typename T, typename I>
__global__ void sum_rows(const I *first, const uint16_t *name, const T *x, int8_t *order, T *sum, int rows, int64_t n)
{
}
