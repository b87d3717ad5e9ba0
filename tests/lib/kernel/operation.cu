/* operation.cu - operations that consist of several launches; test_operation.c defines and calls them. */
#include <stdint.h>

/* Adds the elements in order. */
#pragma cf kernel internal grid(1) in(x[n]) inout(total[1])
#pragma cf instances(f32: float; f64: double; i32: int32_t)
template <typename T> __global__ void add_up(const T *x, T *total, int64_t n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int64_t i = 0; i < n; i++)
            *total += x[i];
}

/* y = x / total. */
#pragma cf kernel grid(n) in(x[n], total[1]) out(y[n]) inplace(x, y)
#pragma cf instances(f32: float; f64: double; i32: int32_t)
template <typename T> __global__ void divide(const T *x, const T *total, T *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / *total;
}

/* y = x / sum(x); y may be x. */
#pragma cf operation in(x[N]) out(y[N]) scratch(total[1]) zero(total) inplace(x, y) uses(add_up, divide) \
    check(N != 13) bytes(3.0 * N * sizeof(T))
#pragma cf instances(f32: float; f64: double)
template <typename T> void normalise(const T *x, T *y, T *total, int64_t N);

/* y[i] = x[index[i]] / sum(x). */
#pragma cf operation in(x[M], index[N]) out(y[N]) scratch(all[M]) check(0 <= index[:] < M) uses(normalise_f32, pick)
extern "C" void normalise_some(const float *x, const int32_t *index, float *y, float *all, int64_t N, int64_t M);

#pragma cf kernel internal grid(n) in(x[m], index[n]) out(y[n])
__global__ void pick(const float *x, const int32_t *index, float *y, int64_t n, int64_t m)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]];
}

/* Sets x to value; refuses 13. */
#pragma cf kernel internal grid(n) out(x[n]) check(value != 13)
__global__ void fill_up(int32_t *x, int32_t value, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

/* Fills x with each of the `count` values from `first` on, and reports its device. `what` selects another action, which
 * test_operation.c defines. */
#pragma cf operation out(x[n], device[1]) scratch(a[n], b[0]) uses(fill_up, fault)
void fill_often(int32_t *x, int32_t *device, int32_t *a, int32_t *b, int32_t first, int32_t count, int32_t what,
                int64_t n);

/* Faults. */
#pragma cf kernel internal grid(1) block(1) inout(x[1])
__global__ void fault(int32_t *x)
{
    if (*x != -1)
        __trap();
}

/* A kernel that cannot run on the CPU. */
#pragma cf kernel internal grid(1) block(1) inout(x[1]) host(none)
__global__ void on_gpus(int32_t *x)
{
    ++*x;
}

#pragma cf operation inout(x[1]) uses(on_gpus)
void only_on_gpus(int32_t *x);

__constant__ int32_t step = 1;

#pragma cf kernel internal grid(1) block(1) inout(x[1])
__global__ void add_step(int32_t *x)
{
    *x += step;
}

/* An operation that depends on more than its arguments: its kernel uses data of the file. */
#pragma cf operation inout(x[1]) uses(add_step) bytes(4)
void step_once(int32_t *x);
