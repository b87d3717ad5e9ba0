/* scan - the last step of a distributed scan, after the ranks' own scans. */
#include <stdint.h>

/* Adds `offset` to each of n elements. Integers wrap around. */
#pragma cf kernel grid(n) host(grid(n)) inout(y[n]) split(n) bytes(2.0 * n * sizeof(T)) flops(1.0 * n)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void shift(T offset, T *y, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if constexpr ((T)0.5 == (T)0)
        y[i] = (T)((uint64_t)y[i] + (uint64_t)offset);
    else
        y[i] += offset;
}
