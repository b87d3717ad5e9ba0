/* languages.cu - kernels for test_languages.py, with all kinds of arguments that wrappers support. */
#include <stdint.h>

#include "languages_types.h"

__constant__ float slope;
__constant__ double weights[2][3];
__constant__ struct place origin;

/* y = a x + y. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
#pragma cf instances(f32: float; f64: double; i32: int; u32: unsigned)
template <typename T> __global__ void axpy(T a, const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

/* Arrays have the same type in both instances. */
#pragma cf kernel grid(n) out(y[n])
#pragma cf instances(near: float; far: double)
template <typename T> __global__ void spread(float *y, T step, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (float)(i * step);
}

/* y = x + 3 or 3 x: the arrays of both instances have the same types. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
#pragma cf instances(plus: 0; times: 1)
template <int OP> __global__ void apply(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = OP ? 3 * x[i] : x[i] + 3;
}

/* The sum or the largest element: the types of the arrays select one of three instances. */
#pragma cf kernel grid(1) block(1) in(x[n]) out(y[1])
#pragma cf instances(sum_f32: float, 0; sum_f64: double, 0; max_f32: float, 1)
template <typename T, int OP> __global__ void reduce(const T *x, T *y, int n)
{
    T found = 0;
    for (int i = 0; i < n; i++)
        found = !OP ? found + x[i] : x[i] > found ? x[i] : found;
    *y = found;
}

/* w[y][x] = u[y][x] + 10 v[x], in rows of `pitch` elements. */
#pragma cf kernel grid(nx, ny) block(16, 4) in(u[ny][nx], v[nx]) out(w[ny][nx]) pitch(w: pitch)
__global__ void rows(const double *u, const float *v, double *w, int nx, int ny, int pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        w[y * pitch + x] = u[y * nx + x] + 10 * v[x];
}

/* Sums of pairs after the first `from` elements; a single last element is a pair, too. The extents are expressions. */
#pragma cf kernel grid((n + 1) / 2) in(x[from:n]) out(y[n % 2 == 0 && n > 0 ? n / 2 : min(n, (n + 1) / 2)])
__global__ void pairs(const int64_t *x, int64_t *y, unsigned n, uint8_t from)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (n + 1) / 2)
        y[i] = x[from + 2 * i] + (2 * i + 1 < n ? x[from + 2 * i + 1] : 0);
}

/* Has structs, vectors, and a pointer without a declared extent. */
#pragma cf kernel grid(size.count) in(places[size.count], moves[size.count]) out(sums[size.count]) resident(extra)
__global__ void move(const struct place *places, const float4 *moves, double *sums, const double *extra, struct size size,
                     bool twice)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size.count)
        sums[i] = (places[i].at[0] + places[i].at[1] + moves[i].w) * (twice ? 2 : 1) + places[i].mass + (extra ? *extra : 0);
}

/* The extent contains members that are signed or logical in Fortran. */
#pragma cf kernel grid(p.count) out(y[p.is_twofold ? 2 * p.count : p.count + p.shade])
__global__ void parts(int *y, struct part p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.count)
        y[i] = i;
}

/* Has structs that C aligns to 16 bytes: one because of a vector, one because of its own alignment. */
#pragma cf kernel grid(n) in(balls[n]) inout(corners[n])
__global__ void swell(const struct ball *balls, struct corner *corners, int n, char first, struct corner by,
                      struct ball with)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        corners[i].z = corners[i].x + balls[i].centre.w * balls[i].radius + first + by.z + with.centre.y + with.radius;
}

/* Reads the constants. */
#pragma cf kernel grid(1) out(y[3])
__global__ void constants(double *y)
{
    y[0] = slope;
    y[1] = weights[1][2];
    y[2] = origin.mass + origin.at[1];
}

/* Fortran has no type for these elements. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void halves(__half *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = __float2half(2.0f * __half2float(x[i]));
}
