/* outside - the first element of an array that lies outside a range; what check(lower <= a[:] < upper) runs */
#include <stdint.h>

/* Lowers *first to the index of the first element of x that is below lower or above upper; *first stays where no
 * element is. The caller sets *first beforehand, commonly to n. */
#pragma cf kernel grid(n) in(x[n]) inout(first[1])
#pragma cf instances(i32: int32_t; i64: int64_t)
template <typename T>
__global__ void outside(const T *x, int64_t lower, int64_t upper, int64_t *first, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (x[i] < lower || x[i] > upper))
        atomicMin((long long *)first, (long long)i);
}
