/* instead - kernels in whose place a GPU runs an operation in some calls; test_instead.c defines the operations. Each adds
 * something else, so that results tell what ran. */
#include <stdint.h>

/* y = x + 1. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) check(n != 13) split(n) instead(add_slowly: n >= 1000 && n * n < 1000000000000)
#pragma cf instances(f32: float; f64: double; i32: int32_t)
template <typename T> __global__ void add(const T *x, T *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1;
}

/* y = x + 2; for two of the instances. */
#pragma cf operation internal in(x[n]) out(y[n]) scratch(one[n], other[n]) uses(plus)
#pragma cf instances(f32: float; f64: double)
template <typename T> void add_slowly(const T *x, T *y, int64_t n, T *one, T *other);

/* y = x + a. */
#pragma cf kernel internal grid(n) in(x[n]) out(y[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void plus(const T *x, T *y, T a, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + a;
}

/* An operation of two launches, the second of which is add_f32, in its own memory: y = x + 2, or + 3. */
#pragma cf operation in(x[n]) out(y[n]) scratch(between[n]) uses(plus_f32, add_f32)
void add_twice(const float *x, float *y, float *between, int64_t n);

/* Deeper than operations may be, with the one that would run in the place of add_f32. */
#pragma cf operation in(x[n]) out(y[n]) uses(add_f32)
void deep_1(const float *x, float *y, int64_t n);
#pragma cf operation in(x[n]) out(y[n]) uses(deep_1)
void deep_2(const float *x, float *y, int64_t n);
#pragma cf operation in(x[n]) out(y[n]) uses(deep_2)
void deep_3(const float *x, float *y, int64_t n);
#pragma cf operation in(x[n]) out(y[n]) uses(deep_3)
void deep_4(const float *x, float *y, int64_t n);

/* A condition that is no number at times. */
#pragma cf kernel grid(n) in(x[n]) out(y[n]) instead(shift_other: m * m / (m - 3) != 0)
__global__ void shift(const float *x, float *y, int64_t n, int64_t m)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1;
}

#pragma cf operation in(x[n]) out(y[n]) uses(plus_f32)
void shift_other(const float *x, float *y, int64_t n, int64_t m);

/* One whose place is always taken, of a kernel with variants; and indices that are looked at. */
#pragma cf kernel grid(n) block(BLOCK) in(x[m], index[n]) out(y[n]) check(0 <= index[:] < m) tune(BLOCK: 64, 128) \
    instead(pick_other: 1)
template <int BLOCK> __global__ void pick(const float *x, const int32_t *index, float *y, int32_t n, int32_t m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]];
}

/* The elements behind them. */
#pragma cf operation in(x[m], index[n]) out(y[n]) uses(pick_behind)
void pick_other(const float *x, const int32_t *index, float *y, int32_t n, int32_t m);

#pragma cf kernel internal grid(n) in(x[m], index[n]) out(y[n]) check(m > 0)
__global__ void pick_behind(const float *x, const int32_t *index, float *y, int32_t n, int32_t m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[(index[i] + 1) % m];
}
