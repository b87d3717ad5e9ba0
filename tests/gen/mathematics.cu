/* mathematics.cu - functions of the C library that the CPU replaces by its own: in loops, under conditions, by all
 * their names, as pointers, and between barriers; for test_mathematics.c and test_loops.py. */
#include <cmath>

#pragma cf kernel grid(n) in(x[n]) out(power[n], logarithm[n], tangent[n])
__global__ void floats(const float *x, float *power, float *logarithm, float *tangent, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        power[i] = expf(x[i]);
        logarithm[i] = logf(x[i]);
        tangent[i] = tanhf(x[i]);
    }
}

#pragma cf kernel grid(n) in(x[n]) out(power[n], logarithm[n], tangent[n])
__global__ void doubles(const double *x, double *power, double *logarithm, double *tangent, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        power[i] = exp(x[i]);
        logarithm[i] = log(x[i]);
        tangent[i] = tanh(x[i]);
    }
}

/* Calls the same functions by their other names. */
#pragma cf kernel grid(n) in(x[n]) out(power[n], logarithm[n], tangent[n])
__global__ void names(const float *x, float *power, float *logarithm, float *tangent, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        power[i] = i % 3 == 0 ? exp(x[i]) : i % 3 == 1 ? std::exp(x[i]) : __expf(x[i]);
        if (i % 3 == 0)
            logarithm[i] = log(x[i]);
        else if (i % 3 == 1)
            logarithm[i] = std::log(x[i]);
        else
            logarithm[i] = __logf(x[i]);
        tangent[i] = i % 3 == 0 ? tanh(x[i]) : i % 3 == 1 ? std::tanh(x[i]) : __tanhf(x[i]);
    }
}

#pragma cf kernel grid(n) block(64) in(x[n]) out(power[n], logarithm[n], tangent[n])
__global__ void turned(const float *x, float *power, float *logarithm, float *tangent, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i < n)
        s[t] = x[i];
    __syncthreads();
    /* Thread t takes the element of its neighbour. */
    int other = blockIdx.x * 64 + (t ^ 1);
    if (other < n) {
        power[other] = expf(s[t ^ 1]);
        logarithm[other] = logf(s[t ^ 1]);
        tangent[other] = tanhf(s[t ^ 1]);
    }
}

template <float (*function)(float, float)> __device__ float call(float x, float y)
{
    return function(x, y);
}

/* Kernels that have the names of the functions. */
#pragma cf kernel grid(n) in(x[n], y[n]) out(least[n], most[n])
__global__ void fmaxf(const float *x, const float *y, float *least, float *most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float (*least_of)(float, float) = fminf;
    if (i < n) {
        least[i] = least_of(x[i], y[i]);
        most[i] = i % 2 ? fmaxf(x[i], y[i]) : call<fmaxf>(x[i], y[i]);
    }
}

#pragma cf kernel grid(n) in(x[n]) out(nearest[n])
__global__ void lrint(const double *x, long *nearest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long (*nearest_of)(double) = lrint;
    if (i < n)
        nearest[i] = i % 2 ? lrint(x[i]) : nearest_of(x[i]);
}

#pragma cf kernel grid(n) in(x[n]) out(first[n], second[n])
__global__ void bessel(const double *x, double *first, double *second, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float (*second_of)(int, float) = ynf;
    if (i < n) {
        int order = i % 6 - 3;
        first[i] = i % 2 ? jn(order, x[i]) : jnf(order, (float)x[i]);
        second[i] = i % 2 ? yn(order, x[i]) : second_of(order, (float)x[i]);
    }
}
