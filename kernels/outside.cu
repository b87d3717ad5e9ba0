/* outside - finds the first element of an array that is outside a range, or less than the element before it, for
 * check(lower <= a[:] < upper, ascending(a)) */
#include <stdint.h>

/* Lowers *first to i. *first may be in host memory, where an atomic operation is slow, so that it is skipped if *first
 * is lower already. */
__device__ inline void lower_to(int64_t *first, int64_t i)
{
#ifdef __CUDA_ARCH__
    if (*(const volatile int64_t *)first <= i)
        return;
#endif
    atomicMin((long long *)first, (long long)i);
}

/* Lowers *first to the index of the first element of x below lower or above upper; *first stays if there is none.
 * The caller sets *first beforehand, usually to n. */
#pragma cf kernel grid(n) in(x[n]) inout(first[1])
#pragma cf instances(i8: int8_t; i16: int16_t; i32: int32_t; i64: int64_t; \
    u8: uint8_t; u16: uint16_t; u32: uint32_t; u64: uint64_t)
template <typename T> __global__ void outside(const T *x, T lower, T upper, int64_t *first, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (x[i] < lower || x[i] > upper))
        lower_to(first, i);
}

/* Lowers *first to the index of the first element of x below lower or above upper, like the kernel above, in rows of
 * `length` elements whose first elements are `pitch` elements apart. The index counts elements row by row, without
 * those between the rows. */
#pragma cf kernel grid(length * rows) in(x[rows][length]) pitch(x: pitch) inout(first[1])
#pragma cf instances(i8: int8_t; i16: int16_t; i32: int32_t; i64: int64_t; \
    u8: uint8_t; u16: uint16_t; u32: uint32_t; u64: uint64_t)
template <typename T>
__global__ void outside_rows(const T *x, T lower, T upper, int64_t *first, int64_t length, int64_t rows, int64_t pitch)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length * rows)
        return;
    T element = x[i / length * pitch + i % length];
    if (element < lower || element > upper)
        lower_to(first, i);
}

/* Lowers *first to the index of the first element of x that is less than the element before it; *first stays if
 * there is none. The caller sets *first beforehand, usually to n. */
#pragma cf kernel grid(n) in(x[n]) inout(first[1])
#pragma cf instances(i8: int8_t; i16: int16_t; i32: int32_t; i64: int64_t; \
    u8: uint8_t; u16: uint16_t; u32: uint32_t; u64: uint64_t)
template <typename T> __global__ void descending(const T *x, int64_t *first, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n && x[i] < x[i - 1])
        lower_to(first, i);
}
