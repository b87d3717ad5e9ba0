/* scan - inclusive and exclusive prefix sums of an array */
#include <stdint.h>

#include "scan.cuh"

/* Sets y[i] to the sum of x[0] to x[i], both of n elements. x may be y; otherwise they must not overlap. Integers
 * wrap. Floats are added in their own type, in an order that depends on i and the type alone: the same call gives
 * the same bits each time, on GPUs and on the CPU. The order is not that of a loop (see kernels/KERNELS.md), and
 * rounding errors are smaller. Sums of elements that are not negative never fall, and stay the same where x[i] is 0. */
#pragma cf kernel blocks(SCAN_TILES) block(SCAN_THREADS) host(grid(SCAN_TILES)) in(x[n]) out(y[n]) \
    inplace(x, y) scratch(work[SCAN_WORK]) zero(work) bytes(2.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(384, 3) inclusive_scan(const T *x, T *y, uint64_t *work, int64_t n)
{
#ifdef __CUDA_ARCH__
    scan_grid<true>(n, x, y, work);
#else
    scan_next<true>(n, x, y, work, gridDim.x);
#endif
}

/* Sets y[i] to the sum of x[0] to x[i - 1], and y[0] to 0; otherwise like inclusive_scan: y[i + 1] has the bits of its
 * y[i]. */
#pragma cf kernel blocks(SCAN_TILES) block(SCAN_THREADS) host(grid(SCAN_TILES)) in(x[n]) out(y[n]) \
    inplace(x, y) scratch(work[SCAN_WORK]) zero(work) bytes(2.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(384, 3) exclusive_scan(const T *x, T *y, uint64_t *work, int64_t n)
{
#ifdef __CUDA_ARCH__
    scan_grid<false>(n, x, y, work);
#else
    scan_next<false>(n, x, y, work, gridDim.x);
#endif
}
