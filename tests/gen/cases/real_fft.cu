/* real_fft - kernels of Fourier transforms: complex numbers of every spelling, radices, twiddles, batches. */
#include <cuComplex.h>
#include <math.h>
#include <thrust/complex.h>

typedef cuFloatComplex Complex;

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

namespace fft
{
inline namespace v1
{

static __device__ __host__ inline unsigned reversed(unsigned i, int bits)
{
    unsigned r = 0;
    for (int b = 0; b < bits; b++)
        r |= ((i >> b) & 1u) << (bits - 1 - b);
    return r;
}

/* The order in which a transform of 2^bits points reads. */
#pragma cf kernel grid(n) in(from[n]) out(to[n]) check(bits >= 0 && bits < 31, n > 0)
__global__ void reorder(const Complex *from, Complex *to, unsigned n, int bits)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[reversed(i, bits) % n];
}

/* exp(-2 pi i k / n) for all k. */
#pragma cf kernel grid(n) out(factor[n]) check(n > 0) tolerance(1e-6)
__global__ void twiddles(float2 *factor, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    factor[k].x = cosf(-2.f * (float)M_PI * (float)k / (float)n);
    factor[k].y = sinf(-2.f * (float)M_PI * (float)k / (float)n);
}

/* One pass of a batch of transforms; each thread does one butterfly. */
#pragma cf kernel grid(n / RADIX, batch) block(128, 1) inout(data[batch][n]) in(factor[n]) \
    check(n % RADIX == 0, 1 <= stride < n) tolerance(1e-5)
#pragma cf instances(c64_forward: thrust::complex<float>, 2, false; c64_inverse: thrust::complex<float>, 2, true; \
    c128_forward: thrust::complex<double>, 2, false)
template <typename C, int RADIX, bool INVERSE>
__global__ void butterfly(C *__restrict__ data, const C *__restrict__ factor, int n, int batch, int stride)
{
    static_assert(RADIX == 2, "");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / RADIX || (int)blockIdx.y >= batch)
        return;
    int low = i / stride * stride * 2 + i % stride, high = low + stride;
    C *row = data + (size_t)blockIdx.y * n, w = factor[(size_t)(i % stride) * (n / (2 * stride))];
    if (INVERSE)
        w = thrust::conj(w);
    C a = row[low], b = high < n ? row[high] * w : C(0);
    row[low] = a + b;
    if (high < n)
        row[high] = a - b;
}

/* The product of two spectra, scaled. */
#pragma cf kernel grid(n) in(a[n], b[n]) out(c[n]) tolerance(1e-6)
__global__ void multiply_spectra(const thrust::complex<double> *a, const thrust::complex<double> *b,
                                 thrust::complex<double> *c, double scale, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] * b[i] * scale;
}

/* A scalar that is complex, by value. */
#pragma cf kernel grid(n) inout(x[n])
extern "C" __global__ void rotate(cuFloatComplex *x, cuFloatComplex phase, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = cuCmulf(x[i], phase);
}

/* Whole transforms of 64 points in the registers and the shared memory of one block. */
#pragma cf kernel blocks(batch) block(POINTS / 2) shared(POINTS * sizeof(float2)) inout(data[batch][POINTS])
#pragma cf instances(p64: 64; p1024: 1024)
template <unsigned POINTS> __launch_bounds__(POINTS / 2) __global__ void small_transform(float2 *data, unsigned batch)
{
    extern __shared__ __align__(16) unsigned char raw[];
    float2 *row = reinterpret_cast<float2 *>(raw), *own = data + (size_t)blockIdx.x * POINTS;
    int bits = 31 - __clz(POINTS);
    if (blockIdx.x >= batch)
        return;
    for (unsigned i = threadIdx.x; i < POINTS; i += POINTS / 2)
        row[reversed(i, bits)] = own[i];
    for (unsigned stride = 1; stride < POINTS; stride *= 2) {
        __syncthreads();
        unsigned low = threadIdx.x / stride * stride * 2 + threadIdx.x % stride, high = low + stride;
        float s, c;
        __sincosf(-(float)M_PI * (threadIdx.x % stride) / stride, &s, &c);
        float2 a = row[low], b = {row[high].x * c - row[high].y * s, row[high].x * s + row[high].y * c};
        row[low] = {a.x + b.x, a.y + b.y};
        row[high] = {a.x - b.x, a.y - b.y};
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < POINTS; i += POINTS / 2)
        own[i] = row[i];
}

} // namespace v1
} // namespace fft
