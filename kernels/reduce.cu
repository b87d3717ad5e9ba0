/* reduce - the sum of an array, the dot product of two, the least and the greatest element, and their indices. The C
 * functions min and max are called least and greatest here, since CUDA has functions min() and max(). */
#include <stdint.h>

#include "reduce.cuh"

/* Sets *result to the sum of n elements of x, which is 0 for n = 0. Integers wrap. Floats are added in their own
 * type, in an order that depends on n alone: the same call gives the same bits each time, on GPUs and on the CPU,
 * for any alignment of x. The order is not that of a loop (see kernels/KERNELS.md): up to half a million partial
 * sums are added in a tree, with smaller rounding errors than a loop's. */
#pragma cf kernel blocks(REDUCE_BLOCKS) block(REDUCE_THREADS) host(grid(REDUCE_BLOCKS)) in(x[n]) out(result[1]) \
    scratch(work[REDUCE_WORK(sizeof(T))]) zero(work) rezero(work) bytes(1.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(256, 4) sum(const T *x, T *result, uint64_t *work, int64_t n)
{
    T total;
    if (reduce_grid<reduce_sum<T>>(n, work, {{x}}, &total))
        *result = total;
}

/* Sets *result to the sum of the products of n elements of x and y, in the order of sum; it is 0 for n = 0. Integers
 * wrap. A product and its addition may be rounded once or twice, so devices differ in the last bits. */
#pragma cf kernel blocks(REDUCE_BLOCKS) block(REDUCE_THREADS) host(grid(REDUCE_BLOCKS)) in(x[n], y[n]) \
    out(result[1]) scratch(work[REDUCE_WORK(sizeof(T))]) zero(work) rezero(work) bytes(2.0 * n * sizeof(T)) \
    flops(2.0 * n) tolerance(is_integral(T) ? 0 : sizeof(T) == 8 ? 1e-15 * n : 1e-7 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(256, 4) dot(const T *x, const T *y, T *result, uint64_t *work, int64_t n)
{
    T total;
    if (reduce_grid<reduce_dot<T>>(n, work, {{x, y}}, &total))
        *result = total;
}

/* Sets *result to the least of n elements of x; n must be 1 or more. If an element is NaN, the result is NaN, as in
 * NumPy, since a number would hide it. Of 0 and -0 it is either, the same each time. */
#pragma cf kernel name(min) blocks(REDUCE_BLOCKS) block(REDUCE_THREADS) host(grid(REDUCE_BLOCKS)) in(x[n]) \
    out(result[1]) scratch(work[REDUCE_WORK(sizeof(T))]) zero(work) rezero(work) check(n >= 1) \
    bytes(1.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(256, 4) least(const T *x, T *result, uint64_t *work, int64_t n)
{
    T best;
    if (reduce_grid<reduce_best<T, false>>(n, work, {{x}}, &best))
        *result = best;
}

/* Sets *result to the greatest of n elements of x; n must be 1 or more. If an element is NaN, the result is NaN, as
 * in NumPy. Of 0 and -0 it is either, the same each time. */
#pragma cf kernel name(max) blocks(REDUCE_BLOCKS) block(REDUCE_THREADS) host(grid(REDUCE_BLOCKS)) in(x[n]) \
    out(result[1]) scratch(work[REDUCE_WORK(sizeof(T))]) zero(work) rezero(work) check(n >= 1) \
    bytes(1.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(256, 4) greatest(const T *x, T *result, uint64_t *work, int64_t n)
{
    T best;
    if (reduce_grid<reduce_best<T, true>>(n, work, {{x}}, &best))
        *result = best;
}

/* Sets *index to the index of the least of n elements of x; n must be 1 or more. It is the first NaN if there is
 * one, else the first of the least elements, among which 0 and -0 are equal. */
#pragma cf kernel blocks(REDUCE_BLOCKS) block(REDUCE_THREADS) host(grid(REDUCE_BLOCKS)) in(x[n]) out(index[1]) \
    scratch(work[REDUCE_WORK(16)]) zero(work) rezero(work) check(n >= 1) \
    bytes(1.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(256, 4) argmin(const T *x, int64_t *index, uint64_t *work, int64_t n)
{
    reduce_indexed<T> best;
    if (reduce_grid<reduce_arg<T, false>>(n, work, {{x}}, &best))
        *index = best.index;
}

/* Sets *index to the index of the greatest of n elements of x; n must be 1 or more. It is the first NaN if there is
 * one, else the first of the greatest elements, among which 0 and -0 are equal. */
#pragma cf kernel blocks(REDUCE_BLOCKS) block(REDUCE_THREADS) host(grid(REDUCE_BLOCKS)) in(x[n]) out(index[1]) \
    scratch(work[REDUCE_WORK(16)]) zero(work) rezero(work) check(n >= 1) \
    bytes(1.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(256, 4) argmax(const T *x, int64_t *index, uint64_t *work, int64_t n)
{
    reduce_indexed<T> best;
    if (reduce_grid<reduce_arg<T, true>>(n, work, {{x}}, &best))
        *index = best.index;
}
