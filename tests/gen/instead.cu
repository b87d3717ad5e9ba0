// Kernels in whose place a GPU runs an operation in some calls.
#include <stdint.h>

/* For two instances of three. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n]) instead(add_by_rows: n >= 1 << 20 && n % width == 0)
#pragma cf instances(f32: float; f64: double; i32: int32_t)
template <typename T> __global__ void add(const T *x, T *y, int64_t n, int width)
{
}

#pragma cf operation internal in(x[count]) inout(y[count]) scratch(sums[count / w], more[w]) uses(add_row)
#pragma cf instances(f64: double; f32: float)
template <typename T> void add_by_rows(const T *x, T *y, int64_t count, int w, T *sums, int *more);

#pragma cf kernel internal grid(n) in(x[n]) inout(y[n]) resident(sums)
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void add_row(const T *x, T *y, T *sums, int64_t n)
{
}

/* Of a kernel with variants. */
#pragma cf kernel grid(n) out(x[n]) tune(ITEMS: 1, 2) instead(set_all: n > 4 * sizeof(int))
template <int ITEMS> __global__ void set(int *x, int n)
{
}

#pragma cf operation out(x[n]) uses(add)
void set_all(int *x, int n);
