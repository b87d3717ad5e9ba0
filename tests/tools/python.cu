/* Kernels that wrappers of other languages call in tests. */
#include <cstdint>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

struct body {
    float mass;
    double position[2];
};

__constant__ float factors[2][3];
__constant__ int shift;

/* y = a x + y */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
__global__ void axpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

/* res[i] = source[index[i]] */
#pragma cf kernel grid(N) in(source[M], index[N]) out(res[N]) check(0 <= index[:] < M)
#pragma cf instances(f32_i32: float, int32_t; f32_i64: float, int64_t; f64_i32: double, int32_t)
template <class T, class I>
__global__ void gather(const T *__restrict__ source, const I *__restrict__ index, T *__restrict__ res, int64_t N,
                       int64_t M)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < N)
        res[i] = source[index[i]];
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

/* Instances that differ only in the result. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
#pragma cf instances(i32: int; f32: float)
template <typename T> __global__ void turn(const float *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = T(1.5f * x[i]);
}

/* y[i] = x[i] i, for types that have two parts. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
#pragma cf instances(f: float2; d: double2)
template <typename T> __global__ void quarter(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i].x = -x[i].y;
        y[i].y = x[i].x;
    }
}

/* The result comes before other arguments. */
#pragma cf kernel grid(n) out(y[n]) in(x[n])
__global__ void blend(float *y, const float *x, float a, float b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + b;
}

/* Arguments have the names of functions in the modules. */
#pragma cf kernel grid(n) in(take[n]) out(differ[n])
__global__ void named(float number, int quotient, const float *take, float *differ, int n, int fail)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        differ[i] = number * take[i] + quotient + fail;
}

/* One step of heat flow. */
#pragma cf kernel grid(nx, ny) block(32, 8) in(u[ny][nx]) inout(v[ny][nx]) check(nx > 2, ny > 2)
__global__ void step(const double *__restrict__ u, double *__restrict__ v, int nx, int ny, double c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int i = y * nx + x;
        v[i] = u[i] + c * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4 * u[i]);
    }
}

/* Differences of neighbours. The kernel's name is a function of Python's, and one argument's name is a keyword. */
#pragma cf kernel grid(n) in(lambda[2 * n + 1]) out(y[n])
__global__ void max(const int *lambda, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = lambda[2 * i + 2] - lambda[2 * i];
}

/* y[i] = by - min + min_: two names that would be equal in Python, and a vector of three eightbytes. */
#pragma cf kernel grid(n) out(y[n])
__global__ void shift_by(double *y, double3 by, double min, double min_, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = by.x + 10 * by.y + 100 * by.z - min + min_;
}

/* y[i] = x[i * part] */
#pragma cf kernel grid(n / part) in(x[n]) out(y[n / part])
__global__ void thin(const double *x, double *y, int n, int part)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / part)
        y[i] = x[i * part];
}

struct __attribute__((packed)) tight {
    char mark;
    int number;
};

/* Has a struct for which ctypes would choose another layout. */
#pragma cf kernel grid(n) out(y[n])
__global__ void squeeze(float *y, tight value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = value.mark;
}

struct ball {
    float4 centre;
    float radius;
};

struct __align__(16) corner {
    float x, y, z;
};

/* Has structs that C aligns to 16 bytes, and ctypes does not. */
#pragma cf kernel grid(n) in(balls[n]) inout(corners[n])
__global__ void swell(const ball *balls, corner *corners, int n, char first, corner by, ball with)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        corners[i].z = corners[i].x + balls[i].centre.w * balls[i].radius + first + by.z + with.centre.y + with.radius;
}

/* A vector of 16 bytes, which ctypes does not align. */
#pragma cf kernel grid(n) out(y[n])
__global__ void tint(float *y, float4 colour, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = colour.x + colour.w;
}

/* Sums of the rows, and the sum of all; no array determines scale. */
#pragma cf kernel grid(rows) in(x[rows][cols]) out(sums[rows], flags[rows > 4 ? 4 : rows])
__global__ void sum_rows(const float4 *x, float2 scale, float *sums, bool *flags, int rows, int cols, unsigned char add)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    float sum = add + shift;
    for (int k = 0; k < cols; k++)
        sum += scale.x * x[i * cols + k].x + scale.y * x[i * cols + k].w;
    sums[i] = sum * factors[1][2];
    if (i < 4)
        flags[i] = sum > 0;
}

/* The weights of bodies, moved by one. */
#pragma cf kernel grid(n) inout(b[n]) out(weights[n])
__global__ void weigh(body *b, body origin, __half least, float *weights, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        b[i].position[1] += origin.position[1];
        weights[i] = b[i].mass * origin.mass + __half2float(least);
    }
}

struct settings {
    struct {
        int first;
        short step[2];
    } part;
    bool on;
    char mark;
};

/* Stores the values of the arguments in y. */
#pragma cf kernel grid(4) out(y[4])
__global__ void put(double *y, bool on, signed char low, uint64_t high, float real)
{
    y[0] = on;
    y[1] = low;
    y[2] = (double)(high - 1);
    y[3] = real;
}

/* Stores values of types that only Python passes by value. */
#pragma cf kernel grid(8) out(y[8])
__global__ void put_more(double *y, __half half, __nv_bfloat16 brief, cuFloatComplex z, settings how)
{
    y[0] = __half2float(half);
    y[1] = __bfloat162float(brief);
    y[2] = z.x;
    y[3] = z.y;
    y[4] = how.part.first;
    y[5] = how.part.step[1];
    y[6] = how.on;
    y[7] = how.mark;
}

/* y = by x, with floats of 8 bits. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void scale_small(__nv_fp8_e4m3 by, const __nv_fp8_e5m2 *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (float)by * (float)x[i];
}

/* Has an extent with a shift, which may be undefined. */
#pragma cf kernel grid(1) in(x[1LL << bits]) out(y[1LL << bits])
__global__ void shifted(const float *x, float *y, unsigned short bits)
{
    if (threadIdx.x == 0)
        y[0] = x[0];
}

/* y = x where `on` is set. */
#pragma cf kernel grid(n) in(on[n], x[n]) out(y[n])
__global__ void chosen(const bool *on, const __nv_bfloat16 *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = on[i] ? __bfloat162float(x[i]) : 0;
}

struct alignas(8) lone {
    float x;
};

/* C passes the struct in a floating-point register; the class of ctypes, with its padding, hides that. */
#pragma cf kernel grid(n) inout(y[n])
__global__ void lift(float *y, lone by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += by.x;
}

/* y = z x */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void rotate(cuFloatComplex z, const cuFloatComplex *x, cuFloatComplex *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = cuCmulf(z, x[i]);
}
