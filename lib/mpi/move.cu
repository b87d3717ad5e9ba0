/* move - copies elements by index, for plans, whose indices were checked when the plan was created. */
#include <stdint.h>

/* Copies n elements from source, which has M elements: res[i] = source[from[i]]. A negative index stands for an element
 * that arrives later. With `fill`, zeros are written for such elements, because a GPU writes whole sectors of memory
 * faster. */
#pragma cf kernel grid(n) host(grid(n)) in(source[M], from[n]) inout(res[n]) check(-1 <= from[:] < M)
#pragma cf instances(b8: uint8_t; b16: uint16_t; b32: uint32_t; b64: uint64_t; b128: uint4)
template <typename T>
__global__ void pack(const T *__restrict__ source, const int64_t *__restrict__ from, T *__restrict__ res, int64_t n,
                     int64_t M, bool fill)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int64_t at = from[i];
    if (at >= 0 || fill)
        res[i] = at < 0 ? T() : source[at];
}

/* Copies n elements from source, which has M elements, to res, which has N: res[to[i]] = source[from[i]]. */
#pragma cf kernel grid(n) host(grid(n)) in(source[M], from[n], to[n]) inout(res[N]) \
    check(0 <= from[:] < M, 0 <= to[:] < N)
#pragma cf instances(b8: uint8_t; b16: uint16_t; b32: uint32_t; b64: uint64_t; b128: uint4)
template <typename T>
__global__ void move(const T *__restrict__ source, const int64_t *__restrict__ from, const int64_t *__restrict__ to,
                     T *__restrict__ res, int64_t n, int64_t M, int64_t N)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        res[to[i]] = source[from[i]];
}

/* Copies n elements to res, which has M elements: res[to[i]] = source[i], unless to[i] is negative. */
#pragma cf kernel grid(n) host(grid(n)) in(source[n], to[n]) inout(res[M]) check(-1 <= to[:] < M)
#pragma cf instances(b8: uint8_t; b16: uint16_t; b32: uint32_t; b64: uint64_t; b128: uint4)
template <typename T>
__global__ void unpack(const T *__restrict__ source, const int64_t *__restrict__ to, T *__restrict__ res, int64_t n,
                       int64_t M)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && to[i] >= 0)
        res[to[i]] = source[i];
}
