/* select - the elements of an array whose flags are set, or their indices, in order. The C functions cf_select and
 * cf_select_index are called compact and compact_index here, since select() is a function of POSIX. */
#include <stdint.h>

#include "select.cuh"

/* Copies those of n elements of x whose flag is not 0 to the beginning of y, in order, and sets *count to their
 * number. y has room for n elements, and keeps its values after the first *count: so y is inout, and a plain call
 * copies a host array y to a GPU, too. y and count must overlap nothing; the plain call checks it. Flags are bytes
 * of any value; a pointer to bool may be cast. */
#pragma cf kernel name(select) blocks(SELECT_BLOCKS) block(SELECT_THREADS) host(grid(SELECT_CHUNKS)) \
    in(x[n], flag[n]) inout(y[n]) out(count[1]) scratch(work[SELECT_WORK]) zero(work) \
    bytes(n * (1.0 + 2.0 * sizeof(T))) flops(0)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t)
template <typename T>
__global__ void __launch_bounds__(256, 4) compact(const T *__restrict__ x, const uint8_t *__restrict__ flag,
                                                  T *__restrict__ y, int64_t *__restrict__ count, uint64_t *work,
                                                  int64_t n)
{
    const select_elements<T> all = {x};
#ifdef __CUDA_ARCH__
    select_grid(n, all, flag, y, count, work);
#else
    select_next(n, all, flag, y, count, work);
#endif
}

/* Sets the beginning of y to the indices, from 0 on, of those of n flags that are not 0, in ascending order, and
 * *count to their number; otherwise like select. Indices of int32_t suffice for 2^31 flags. */
#pragma cf kernel name(select_index) blocks(SELECT_BLOCKS) block(SELECT_THREADS) host(grid(SELECT_CHUNKS)) \
    in(flag[n]) inout(y[n]) out(count[1]) scratch(work[SELECT_WORK]) zero(work) \
    check(sizeof(I) > 4 || n <= 2147483648) bytes(n * (1.0 + sizeof(I))) flops(0)
#pragma cf instances(i32: int32_t; i64: int64_t)
template <typename I>
__global__ void __launch_bounds__(256, 4) compact_index(const uint8_t *__restrict__ flag, I *__restrict__ y,
                                                        int64_t *__restrict__ count, uint64_t *work, int64_t n)
{
    const select_indices<I> all = {0};
#ifdef __CUDA_ARCH__
    select_grid(n, all, flag, y, count, work);
#else
    select_next(n, all, flag, y, count, work);
#endif
}
