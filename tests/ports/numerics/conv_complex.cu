/* conv_complex.cu - circular convolutions of complex signals; macros form the kernel's name and type. */
#include <cuComplex.h>

#include <complex>
#include <cstdlib>
#include <valarray>

#ifndef PRECISION
#define PRECISION 32
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define KERNEL_NAME(what) PASTE(what##_c, PRECISION)

#if PRECISION == 32
typedef cuFloatComplex number;
#define FMA cuCfmaf
#elif PRECISION == 64
typedef cuDoubleComplex number;
#define FMA cuCfma
#else
#error "no such precision"
#endif

#define THREADS (1 << 6)
#define ARRAY(name) const number *name
#define SIZES int n, int taps

#pragma cf kernel grid(n) block(THREADS) in(signal[n], filter[taps]) out(result[n]) tolerance(1e-4) check(taps >= 0)
__global__ void KERNEL_NAME(convolve)(ARRAY(signal), ARRAY(filter), number *result, SIZES)
{
    __shared__ number part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    number sum = {0, 0};
    for (int first = 0; first < taps; first += THREADS) {
        __syncthreads();
        if (first + threadIdx.x < taps)
            part[threadIdx.x] = filter[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < THREADS && first + k < taps; k++) {
            int from = (i - first - k) % n;
            sum = FMA(part[k], signal[from < 0 ? from + n : from], sum);
        }
    }
    if (i < n)
        result[i] = sum;
}

void convolve(std::valarray<std::complex<float>> &signal, const std::valarray<std::complex<float>> &filter)
{
    number *d[3];
    for (number *&p : d)
        if (cudaMalloc(&p, signal.size() * sizeof *p))
            std::abort();
    cudaMemcpy(d[0], &signal[0], signal.size() * sizeof **d, cudaMemcpyHostToDevice);
    cudaMemcpy(d[1], &filter[0], filter.size() * sizeof **d, cudaMemcpyHostToDevice);
    KERNEL_NAME(convolve)<<<(signal.size() + THREADS - 1) / THREADS, THREADS>>>(d[0], d[1], d[2], (int)signal.size(),
                                                                                 (int)filter.size());
    cudaMemcpy(&signal[0], d[2], signal.size() * sizeof **d, cudaMemcpyDeviceToHost);
}
