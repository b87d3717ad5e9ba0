/* flat.cu - forms of the global index, for test_flat.c and test_loops.py. Each thread adds to the element at its index,
 * so that a thread that is missing or runs twice is noticed. */
#include <stdint.h>

#define BLOCK 96

/* ---- Global indices ---- */

#pragma cf kernel grid(n) inout(x[n])
__global__ void size_first(int *x, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void thread_first(int *x, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void parentheses(int *x, int n)
{
    unsigned i = threadIdx.x + (blockDim.x * blockIdx.x);
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) block(BLOCK) inout(x[n])
__global__ void variables(int *x, int n)
{
    const int bx = blockIdx.x, tx = threadIdx.x;
    int i = bx * BLOCK + tx;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) block(BLOCK) inout(x[n])
__global__ void variables_of_size(int *x, int n)
{
    int block = blockIdx.x, size = blockDim.x;
    int thread = (int)threadIdx.x;
    for (int i = thread + size * block; i < n; i += gridDim.x * BLOCK)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) block(128) inout(x[n])
__global__ void constant(int *x, int n)
{
    int i = 0x80u * blockIdx.x + threadIdx.x;
    if (i >= n)
        return;
    x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void constant_by_default(int *x, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) block(SIZE) inout(x[n])
#pragma cf instances(s32: 32; s64: 64)
template <int SIZE> __global__ void constant_of_template(int *x, int n)
{
    int i = threadIdx.x + SIZE * blockIdx.x;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void casts(int *x, int n)
{
    int i = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x;
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void static_casts(int *x, int n)
{
    int i = static_cast<int>(blockDim.x) * static_cast<int>(blockIdx.x) + static_cast<int>(threadIdx.x);
    if (i < n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void cast_of_all(int *x, int64_t n)
{
    int64_t i = static_cast<int64_t>(blockDim.x * blockIdx.x + threadIdx.x);
    if (i < n)
        x[i] += (int)i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void wide(int *x, size_t n)
{
    size_t i = blockDim.x * (size_t)blockIdx.x + threadIdx.x;
    if (i < n)
        x[i] += (int)i + 1;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void wide_variable(int *x, int64_t n)
{
    const int64_t block = blockIdx.x, thread = threadIdx.x;
    const int64_t i = block * blockDim.x + thread;
    if (i < n)
        x[i] += (int)i + 1;
}

#define GLOBAL(axis) (blockDim.axis * blockIdx.axis + threadIdx.axis)

#pragma cf kernel grid(n) inout(x[n])
__global__ void macro(int *x, int n)
{
    int i = GLOBAL(x);
    if (i < n)
        x[i] += i + 1;
}

/* The sum must remain an int: 0 - 1 is then below 0, and still is when it is converted to 64 bits. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void sign(int *x, int n)
{
    int bx = blockIdx.x, tx = threadIdx.x, size = blockDim.x;
    int64_t before = bx * size + tx - 1;
    if (before < (int64_t)n - 1)
        x[before + 1] += (int)before + 2;
}

#pragma cf kernel grid(nx, ny, nz) block(16, 4, 2) inout(x[nz][ny][nx])
__global__ void axes(int *x, int nx, int ny, int nz)
{
    int bx = blockIdx.x, by = blockIdx.y, bz = blockIdx.z, tx = threadIdx.x, ty = threadIdx.y;
    int i = bx * 16 + tx, j = ty + blockDim.y * by, k = 2 * bz + threadIdx.z;
    if (i < nx && j < ny && k < nz) {
        int at = (k * ny + j) * nx + i;
        x[at] += at + 1;
    }
}

/* ---- Kernels that only look alike; expected[] in test_flat.c has the right results ---- */

/* The constant differs from the block's size. */
#pragma cf kernel grid(n) block(32) inout(x[2 * n + 64])
__global__ void other_constant(int *x, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < 2 * n)
        x[i] += i + 1;
}

#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void changed(int *x, int n)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    tx ^= 1;
    int i = bx * 32 + tx;
    if (i < n)
        x[i] += 100 * i + tx;
}

__device__ void turn(int &t)
{
    t = 31 - t;
}

#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void changed_by_call(int *x, int n)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    turn(tx);
    int i = bx * 32 + tx;
    if (i < n)
        x[i] += 100 * i + (int)threadIdx.x;
}

#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void changed_by_reference(int *x, int n)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    int &other = tx;
    other = 31 - tx;
    int i = bx * 32 + tx;
    if (i < n)
        x[i] += 100 * i + (int)threadIdx.x;
}

#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void changed_in_parentheses(int *x, int n)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    (tx) ^= 31;
    int i = bx * 32 + tx;
    if (i < n)
        x[i] += 100 * i + (int)threadIdx.x;
}

#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void changed_through_a_lambda(int *x, int n)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    auto place = [&]() -> int & { return tx; };
    place() ^= 31;
    int i = bx * 32 + tx;
    if (i < n)
        x[i] += 100 * i + (int)threadIdx.x;
}

/* The index in the inner block has the same name as a parameter. */
__device__ void add_at(int *x, int n, int tx)
{
    if (n < 0) {
        int tx = threadIdx.x;
        x[tx] = 0;
    }
    int bx = blockIdx.x;
    int i = bx * 32 + tx;
    if (i < n)
        x[i] += 100 * i + (int)threadIdx.x;
}

#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void named_as_a_parameter(int *x, int n)
{
    add_at(x, n, 31 - threadIdx.x);
}

#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void declared_again(int *x, int n)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    for (int tx = 0; tx < 2; tx++) {
        int i = bx * 32 + tx + 2 * (int)(threadIdx.x / 2) - 2 * (int)(threadIdx.x / 2);
        int j = bx * 32 + tx;
        if (i == j && i < n && threadIdx.x == 0)
            x[i] += 7 + tx;
    }
    if (bx * 32 + tx < n)
        x[bx * 32 + tx] += 1;
}

/* The variable has the same name as the annotation's constant. */
constexpr int SIDE = 32;
#pragma cf kernel grid(n) block(SIDE) inout(x[2 * n + 64])
__global__ void other_name(int *x, int n)
{
    int SIDE = 64;
    int i = blockIdx.x * SIDE + threadIdx.x;
    if (i < 2 * n)
        x[i] += i + 1;
}

/* The index within the block is used, too. */
#pragma cf kernel grid(n) block(32) inout(x[n])
__global__ void both(int *x, int n)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    int i = bx * 32 + tx;
    if (i < n)
        x[i] += 1000 * bx + tx;
}

/* A thread reads its own elements again, through another pointer or by an index that is equal at run time. */
#pragma cf kernel grid(n) block(32) inout(x[2 * n])
__global__ void reread(int *x, int shift, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    int *p = x + shift, *q = x;
    if (i < n) {
        int first = q[2 * i];
        p[2 * i + 1] = first * 2 + i;
        int second = q[2 * i + 1];
        p[2 * i] = second + 3;
    }
}

#pragma cf kernel grid(n) block(32) inout(x[2 * n])
__global__ void reread_beside(int *x, int shift, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x, j = i + shift;
    if (i < n) {
        int first = x[2 * j];
        x[2 * i + 1] = first * 2 + i;
        int second = x[2 * j + 1];
        x[2 * i] = second + 3;
    }
}

__device__ float below(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

/* Calls functions of the C library while vector registers hold parameters. */
#pragma cf kernel grid(n) in(price[n], strike[n], years[n]) out(call[n], put[n])
__global__ void priced(const float *price, const float *strike, const float *years, float *call, float *put, float rate,
                       float volatility, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        float root = sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
                   (volatility * root);
        float d2 = d1 - volatility * root, discounted = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * below(d1) - discounted * below(d2);
        put[i] = discounted * (1 - below(d2)) - price[i] * (1 - below(d1));
    }
}
