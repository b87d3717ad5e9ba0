/* fft_stage.cu - a stage of a radix-2 transform of many signals, with complex numbers of the toolkit and of Thrust. */
#include <complex>
#include <cuComplex.h>
#include <thrust/complex.h>
#include <vector>

typedef cuDoubleComplex Complex;

static __device__ __host__ inline Complex operator*(Complex a, Complex b)
{
    return cuCmul(a, b);
}
static __device__ __host__ inline Complex operator+(Complex a, Complex b)
{
    return cuCadd(a, b);
}
static __device__ __host__ inline Complex operator-(Complex a, Complex b)
{
    return cuCsub(a, b);
}

#pragma cf kernel grid(n / 2, batch) block(64) in(x[batch][n]) out(y[batch][n]) tolerance(1e-12) \
    check(half > 0, n % (2 * half) == 0)
__global__ void stage(const Complex *x, Complex *y, int n, int half, int batch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2)
        return;
    x += (size_t)blockIdx.y * n;
    y += (size_t)blockIdx.y * n;
    int k = i % half, group = i / half;
    double s, c;
    sincospi(-(double)k / half, &s, &c);
    Complex a = x[group * 2 * half + k], b = x[group * 2 * half + k + half] * make_cuDoubleComplex(c, s);
    y[group * 2 * half + k] = a + b;
    y[group * 2 * half + k + half] = a - b;
}

/* The signals are stored one after the other; each has a whole number of groups. */
#pragma cf kernel grid(n / 2) block(64) in(x[n]) out(y[n]) tolerance(1e-12) check(half > 0, n % (2 * half) == 0)
__global__ void stage_of_all(const thrust::complex<double> *x, thrust::complex<double> *y, int n, int half)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2)
        return;
    const int k = i % half, j = 2 * (i - k) + k;
    double s, c;
    sincospi(-(double)k / half, &s, &c);
    const thrust::complex<double> a = x[j], b = x[j + half] * thrust::complex<double>(c, s);
    y[j] = a + b;
    y[j + half] = a - b;
}

std::vector<std::complex<double>> transform(std::vector<std::complex<double>> x)
{
    Complex *d;
    cudaMalloc(&d, x.size() * sizeof *d);
    for (size_t half = 1; half < x.size(); half *= 2)
        stage<<<dim3((x.size() / 2 + 63) / 64, 1), 64>>>(d, d, (int)x.size(), (int)half, 1);
    cudaMemcpy(x.data(), d, x.size() * sizeof *d, cudaMemcpyDeviceToHost);
    return x;
}
