// plain_loops.cpp - OpenMP loops that a programmer would write in place of kernels. Compiled twice: for any processor,
// and for x86-64-v3 on an x86-64 machine.
#include "plain_loops.h"
#include "polynomial.h"

namespace
{

template <typename I> void saxpy(bool by_one, float a, const float *x, float *y, I n)
{
    if (by_one) {
#pragma omp simd
        for (I i = 0; i < n; i++)
            y[i] = a * x[i] + y[i];
    } else {
#pragma omp parallel for simd
        for (I i = 0; i < n; i++)
            y[i] = a * x[i] + y[i];
    }
}

template <typename I> void take(bool by_one, const float *x, const int32_t *index, float *y, I n)
{
    if (by_one) {
#pragma omp simd
        for (I i = 0; i < n; i++)
            y[i] = x[index[i]];
    } else {
#pragma omp parallel for simd
        for (I i = 0; i < n; i++)
            y[i] = x[index[i]];
    }
}

template <typename I> void polynomial(bool by_one, const float *x, float *y, I n)
{
    if (by_one) {
#pragma omp simd
        for (I i = 0; i < n; i++)
            y[i] = polynomial_of(x[i]);
    } else {
#pragma omp parallel for simd
        for (I i = 0; i < n; i++)
            y[i] = polynomial_of(x[i]);
    }
}

template <typename I> inline void row_2d(const float *u, float *v, I nx, I y)
{
#pragma omp simd
    for (I x = 1; x < nx - 1; x++) {
        I at = y * nx + x;
        v[at] = 0.5f * u[at] + 0.125f * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx]);
    }
}

template <typename I> void stencil_2d(bool by_one, const float *u, float *v, I nx, I ny)
{
    if (by_one) {
        for (I y = 1; y < ny - 1; y++)
            row_2d(u, v, nx, y);
    } else {
#pragma omp parallel for
        for (I y = 1; y < ny - 1; y++)
            row_2d(u, v, nx, y);
    }
}

template <typename I> inline void row_3d(const float *u, float *v, I nx, I plane, I y, I z)
{
#pragma omp simd
    for (I x = 1; x < nx - 1; x++) {
        I at = z * plane + y * nx + x;
        v[at] = 0.4f * u[at] + 0.1f * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] + u[at - plane] + u[at + plane]);
    }
}

template <typename I> void stencil_3d(bool by_one, const float *u, float *v, I nx, I ny, I nz)
{
    if (by_one) {
        for (I z = 1; z < nz - 1; z++)
            for (I y = 1; y < ny - 1; y++)
                row_3d(u, v, nx, nx * ny, y, z);
    } else {
#pragma omp parallel for
        for (I z = 1; z < nz - 1; z++)
            for (I y = 1; y < ny - 1; y++)
                row_3d(u, v, nx, nx * ny, y, z);
    }
}

template <typename I> void run(loop_kind kind, bool by_one, const loop_data &data)
{
    const float *x = data.x;
    float *y = data.y;
    const I nx = (I)data.nx, ny = (I)data.ny, nz = (I)data.nz;
    switch (kind) {
    case SAXPY:
        return saxpy<I>(by_one, 1.5f, x, y, nx);
    case TAKE:
        return take<I>(by_one, x, data.index, y, nx);
    case POLYNOMIAL:
        return polynomial<I>(by_one, x, y, nx);
    case STENCIL_2D:
        return stencil_2d<I>(by_one, x, y, nx, ny);
    case STENCIL_3D:
        return stencil_3d<I>(by_one, x, y, nx, ny, nz);
    }
}

#define LOOP(statement)                                                             \
    if (by_one) {                                                                   \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) statement;              \
    } else {                                                                        \
        _Pragma("omp parallel for simd") for (int64_t i = 0; i < n; i++) statement; \
    }                                                                               \
    break

template <typename T> inline void copy_row(const T *from, T *to, int64_t width)
{
#pragma omp simd
    for (int64_t j = 0; j < width; j++)
        to[j] = from[j];
}

template <typename T> void stream(stream_kind kind, bool by_one, const stream_data<T> &data)
{
    const T a = data.a, *x = data.x, *y = data.y;
    const int32_t *index = data.index;
    T *z = data.z;
    const int64_t n = data.n, width = data.width;
    switch (kind) {
    case FILL:
        LOOP(z[i] = a);
    case COPY:
        LOOP(z[i] = x[i]);
    case SCALE:
        LOOP(z[i] = a * x[i]);
    case MULTIPLY:
        LOOP(z[i] = x[i] * y[i]);
    case AXPY:
        LOOP(z[i] = a * x[i] + z[i]);
    case WAXPY:
        LOOP(z[i] = a * x[i] + y[i]);
    case GATHER:
        LOOP(z[i] = x[index[i]]);
    case SCATTER:
        LOOP(z[index[i]] = x[i]);
    default:
        if (by_one) {
            for (int64_t i = 0; i < n / width; i++)
                copy_row(x + index[i] * width, z + i * width, width);
        } else {
#pragma omp parallel for
            for (int64_t i = 0; i < n / width; i++)
                copy_row(x + index[i] * width, z + i * width, width);
        }
    }
}

} // namespace

void PLAIN_STREAM(stream_kind kind, bool by_one, const stream_data<float> &data)
{
    stream(kind, by_one, data);
}

void PLAIN_STREAM(stream_kind kind, bool by_one, const stream_data<double> &data)
{
    stream(kind, by_one, data);
}

void PLAIN_LOOP(loop_kind kind, index_kind index, bool by_one, const loop_data &data)
{
    switch (index) {
    case I32:
        return run<int>(kind, by_one, data);
    case U32:
        return run<unsigned int>(kind, by_one, data);
    case I64:
        return run<int64_t>(kind, by_one, data);
    }
}
