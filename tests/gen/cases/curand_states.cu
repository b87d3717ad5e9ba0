/* curand_states - states of cuRAND's generators are parameters of kernels for GPUs. */
#include <curand_kernel.h>

#pragma cf kernel grid(n) out(states[n], others[n]) host(none)
__global__ void seed_states(curandState *states, curandStatePhilox4_32_10_t *others, unsigned long long seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        curand_init(seed, i, 0, &states[i]);
        curand_init(seed, i, 0, &others[i]);
    }
}

#pragma cf kernel grid(n) inout(states[n], more[n], quasi[n]) out(x[n]) host(none)
__global__ void draw(curandState_t *states, curandStateMRG32k3a *more, curandStateSobol32_t *quasi, float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = curand_uniform(&states[i]) + curand_normal(&more[i]) + curand_uniform(&quasi[i]);
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void halve(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] /= 2;
}
