// Kernels whose calls can be split.
#include <stdint.h>

/* All arrays go with n. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n]) split(n) inplace(x, y)
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void axpy(T a, const T *x, T *y, int64_t n)
{
}

/* Rows go with it, and what is looked up does not; a count of another type. */
#pragma cf kernel grid(rows * width) in(source[m][width], index[rows]) out(res[rows][width]) scratch(work[rows + 1]) \
    check(0 <= index[:] < m) split(rows) tune(ITEMS: 1, 2)
template <int ITEMS>
__global__ void pick(const float *source, const int *index, float *res, int *work, int rows, int width, int m)
{
}
