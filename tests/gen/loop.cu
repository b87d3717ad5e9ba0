/* loop.cu - kernels that run as loops over their threads, and similar ones that do not, for test_loop.c. They add, so
 * that a thread that is missing or runs twice is noticed. */
#include <stdint.h>

/* ---- Forms of the index and of the guard ---- */

#pragma cf kernel grid(n) block(96) inout(x[n])
__global__ void forms_plain(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_return(int *x, unsigned int n)
{
    const unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n) return;
    x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_end(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += i + 1;
    }
    return;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_else(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += i + 1;
    else
        return;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_else_braces(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += i + 1;
    else {
        return;
    }
    return;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_braces(int *x, size_t n)
{
    auto i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n <= i) { return; }
    x[i] += (int)i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_static_cast(int *x, int64_t n)
{
    int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if ((i) < (n)) {
        x[i] += (int)i + 1;
    }
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_mixed(int *x, int64_t n)
{
    int i = (blockIdx.x * blockDim.x) + threadIdx.x; /* a comment
                                                      * over lines */
    if (n > i) // and one to the end
        x[i] += i + 1;
}

#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define INSIDE(i, n) ((i) < (n))

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_macro(int *x, int n)
{
    int i = GLOBAL_INDEX;
    if (INSIDE(i, n))
        x[i] += i + 1;
}

__device__ inline int global_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_function(int *x, int n)
{
    int i = global_index();
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_parts(int *x, int n)
{
    int thread = static_cast<int>(threadIdx.x), block = blockIdx.x;
    int i = block * blockDim.x + thread;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_lambda(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto next = [] { return (int)(blockIdx.x * blockDim.x + threadIdx.x) + 1; };
    if (i < n)
        x[i] += next();
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_stride(int *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_float(int *x, int n)
{
    float i = (float)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[(int)i] += (int)i + 1;
}

#pragma cf kernel grid(n) block(auto) inout(x[n])
__global__ void forms_auto(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_literal(int *x, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_offset(int *x, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) + 2;
    if (i + 1 < n + 3)
        x[i - 2] += i - 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void forms_shift(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (n << 1) / 2)
        return;
    if (i < n - (n >> 1) + (n >> 1))
        x[i] += i + 1;
}

/* Each thread has four elements. */
#pragma cf kernel grid(n) items(4) inout(x[n])
__global__ void forms_items(int *x, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        for (int k = i; k < i + 4 && k < n; k++)
            x[k] += k + 1;
    }
}

/* Block numbers have 16 bits, and are negative beyond 32767. */
#pragma cf kernel grid(n) block(1) inout(x[n])
__global__ void narrow_block(int *x, int n)
{
    short block = blockIdx.x;
    int i = block * blockDim.x + threadIdx.x;
    if (i >= 0 && i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) block(1) inout(x[n])
#pragma cf instances(i16: short; i32: int)
template <typename B> __global__ void cast_block(int *x, int n)
{
    int i = (B)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 0 && i < n)
        x[i] += i + 1;
}

__device__ short narrow_global()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

#pragma cf kernel grid(n) block(1) inout(x[n])
__global__ void narrow_function(int *x, int n)
{
    int i = narrow_global();
    if (i >= 0 && i < n)
        x[i] += i + 1;
}

/* ---- Kernels whose threads from n on also do something ---- */

/* Without a guard; the caller's array has an element for each thread. */
#pragma cf kernel grid(n) block(64) inout(x[(n + 63) / 64 * 64])
__global__ void all_threads(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += i < n ? 1 : 2;
}

#pragma cf kernel grid(n) block(64) inout(x[(n + 63) / 64 * 64])
__global__ void all_else(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
    else
        x[i] += 2;
}

/* Has statements after the guarded statement. */
#pragma cf kernel grid(n) block(64) inout(x[(n + 63) / 64 * 64])
__global__ void all_after(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] -= 1;
    x[i] += 2;
}

/* Has statements before the guard. */
#pragma cf kernel grid(n) block(64) inout(x[(n + 63) / 64 * 64])
__global__ void all_before(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int old = x[i]++;
    if (i >= n)
        return;
    x[i] = old;
}

#pragma cf kernel grid(n) inout(count[1])
__global__ void all_counted(int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int before = atomicAdd(count, 1);
    if (i < n && before < 0)
        *count = 0;
}

/* Has a comparison with a side effect. */
#pragma cf kernel grid(n) inout(count[1])
__global__ void all_compared(int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + 0 * atomicAdd(count, 1))
        count[0] += 0;
}

/* Has a bound that differs between threads. */
#pragma cf kernel grid(n) inout(x[n]) resident(limit)
__global__ void bound_of_thread(int *x, const int *limit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = i % 3 == 0 ? 0 : n;
    if (i < mine)
        x[i] += limit ? 1 : 2;
}

/* Has an index that is narrower than int, so that it wraps. */
#pragma cf kernel grid(n) inout(x[m])
__global__ void narrow_index(int *x, int n, int m)
{
    unsigned char i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
        atomicAdd(&x[i], 1);
}

/* Compares different types: a negative number with an unsigned one. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void negative_limit(int *x, unsigned int n, int limit)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < limit && i < n)
        x[i] += 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void signed_limit(int *x, int n, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < limit && i < n)
        x[i] += 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void real_limit(int *x, int n, double limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < limit && i < n)
        x[i] += 1;
}

/* Has an index that is one more than the global index, and a lower bound. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void from_on(int *x, int n, int first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= first || i >= n)
        return;
    x[i] += 1;
}

/* The index starts below 0, which is large in an unsigned comparison. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void below_zero(int *x, unsigned int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + by;
    if (i < n)
        x[i] += 1;
}

/* The index does not grow by whole steps. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void real_steps(int *x, int n, float by)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * by;
    if (i < n)
        atomicAdd(&x[i], 1);
}

/* A class whose operator < differs from that of numbers. */
struct even {
    int n;
    __device__ even(int limit) : n(limit) {}
};

__device__ inline bool operator<(int i, even limit)
{
    return i < limit.n && i % 2 == 0;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void compared_by_class(int *x, int n)
{
    const even limit = (even)n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < limit)
        x[i] += 1;
}

/* Has two guards around a division, which the first one makes safe. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void divided(int *x, int n, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (step <= 0)
        return;
    if (i >= n)
        return;
    int row = i / step;
    if (row >= 3)
        return;
    x[i] += row + 1;
}

/* ---- Indices of the thread itself ---- */

#pragma cf kernel grid(nx, ny, nz) block(8, 4, 2) inout(x[nz][ny][nx][6])
__global__ void indices(int *x, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < nx && j < ny && k < nz) {
        int *own = x + 6 * ((k * ny + j) * nx + i);
        own[0] += threadIdx.x, own[1] += threadIdx.y, own[2] += threadIdx.z;
        own[3] += blockIdx.x, own[4] += blockIdx.y, own[5] += blockIdx.z;
    }
}

#pragma cf kernel grid(nx, ny, nz) block(8, 4, 2) inout(x[nz][ny][nx][4])
__global__ void indices_of_rows(int *x, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz)
        return;
    int *own = x + 4 * ((k * ny + j) * nx + i);
    own[0] += threadIdx.y, own[1] += threadIdx.z, own[2] += blockIdx.y, own[3] += blockIdx.z;
}

__device__ int own_place()
{
    return (threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z) * 1000 + gridDim.x + blockDim.y;
}

#pragma cf kernel grid(nx, ny, nz) block(8, 4, 2) inout(x[nz][ny][nx])
__global__ void indices_by_function(int *x, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz)
        return;
    x[(k * ny + j) * nx + i] += own_place();
}

/* ---- Grids with two and three axes, and an interior ---- */

#pragma cf kernel grid(nx, ny) block(32, 8) inout(x[ny][nx])
#pragma cf instances(i32: int; u32: unsigned int; i64: int64_t; u64: uint64_t)
template <typename I> __global__ void interior_2d(int *x, I nx, I ny)
{
    const I i = (I)blockIdx.x * blockDim.x + threadIdx.x;
    const I j = (I)blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i + 1 < nx && j >= 1 && j + 1 < ny)
        x[j * nx + i] += (int)(i + 100 * j);
}

#pragma cf kernel grid(nx, ny, nz) block(16, 4, 2) inout(x[nz][ny][nx])
#pragma cf instances(i32: int; u32: unsigned int; i64: int64_t; u64: uint64_t)
template <typename I> __global__ void interior_3d(int *x, I nx, I ny, I nz)
{
    I i = (I)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= nx) return;
    I j = (I)blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= ny) return;
    I k = (I)blockIdx.z * blockDim.z + threadIdx.z;
    if (nz <= k) return;
    x[(k * ny + j) * nx + i] += (int)(i + 100 * j + 10000 * k);
}

/* ---- Arithmetic whose results are the same in vectors, in scalar code and in remainders of loops ---- */

#pragma cf kernel grid(n) in(x[n]) inout(y[n])
#pragma cf instances(i32: int; u32: unsigned int; i64: int64_t; u64: uint64_t)
template <typename I> __global__ void multiply_add(float a, const float *x, float *y, I n)
{
    I i = (I)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

/* Must never be contracted to a fused multiply-add. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
__global__ void multiply_then_add(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __fadd_rn(__fmul_rn(a, x[i]), y[i]);
}

/* Multiplies and adds in a form of code that the generator leaves as it is. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
__global__ void multiply_add_plain(float a, const float *x, float *y, int64_t n)
{
    auto at = [] { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; };
    if (at() < n)
        y[at()] = a * x[at()] + y[at()];
}

/* A thread reads results of its own. */
#pragma cf kernel grid(n) inout(x[2 * n])
__global__ void twice(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[2 * i] = i;
        x[2 * i + 1] = x[2 * i] + 1;
        x[2 * i] = x[2 * i + 1] + 1;
    }
}

/* ---- Memory that belongs to a single thread ---- */

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void own_filled(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int own[8];
    for (int k = 0; k < 8; k++)
        own[k] = x[i] * k + i;
    y[i] = own[x[i] & 7];
}

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void own_pair(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = x[i] & 1, own[2];
    own[k] = x[i];
    own[1 - k] = i;
    y[i] = own[0] - own[1];
}

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void own_pointers(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int *own[2];
    own[0] = x + i;
    own[1] = x + (n - 1 - i);
    y[i] = *own[x[i] & 1];
}

__device__ inline int one_of(int *of, int at)
{
    return of[at];
}

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void own_addressed(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int2 own = make_int2(x[i], -i);
    y[i] = one_of(&own.x, x[i] & 1);
}

struct three {
    int of[3];
    __device__ int &operator[](int k) { return of[k]; }
};

__device__ inline int middle(int a, int b, int c)
{
    three own;
    own[0] = a, own[1] = b, own[2] = c;
    for (int k = 0; k < 3; k++)
        if (own[k % 2] > own[k % 2 + 1]) {
            int larger = own[k % 2];
            own[k % 2] = own[k % 2 + 1], own[k % 2 + 1] = larger;
        }
    return own[1];
}

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void own_object(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = middle(x[i], x[n - 1 - i], i);
}

/* Has no memory of its own, since the pointers lead to the caller's memory. */
#pragma cf kernel grid(ny, nx) in(x[ny][nx]) out(y[ny][nx])
__global__ void own_none(const int *x, int *y, int ny, int nx)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= ny || column >= nx)
        return;
    const int *from = x + row * nx;
    int *to = y + row * nx;
    to[column] = min(from[column], from[nx - 1 - column]);
}

/* ---- A declaration before the kernel, and kernels with the same name ---- */

__global__ void declared_before(int *x, int n);

#pragma cf kernel grid(n) inout(x[n])
__global__ void declared_before(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += i + 1;
}

namespace other
{
#pragma cf kernel name(other_name) grid(n) inout(x[n])
__global__ void declared_before_not(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += i + 1;
}
} // namespace other

#pragma cf kernel blocks(1) block(1) inout(x[1])
__global__ void without_index(int *x)
{
    x[0] += 1;
}
