/* draws.cu - draws from cuRAND's generators and distributions, for draws.c. */
#include <curand_kernel.h>

#pragma cf kernel grid(n) out(states[n])
#pragma cf instances(xorwow: curandState; philox: curandStatePhilox4_32_10_t; mrg: curandStateMRG32k3a_t)
template <typename State>
__global__ void seed(State *states, unsigned long long seed, unsigned long long first, unsigned long long offset, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        curand_init(seed, first + i, offset, &states[i]);
}

/* x has the numbers that follow four jumps over `skipped` numbers each. */
#pragma cf kernel grid(n) inout(states[n]) out(x[n][4], shares[n], exact[n])
#pragma cf instances(xorwow: curandState; philox: curandStatePhilox4_32_10_t; mrg: curandStateMRG32k3a_t)
template <typename State>
__global__ void draw(State *states, unsigned *x, float *shares, double *exact, unsigned long long skipped, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    State state = states[i], copy = state;
    for (int k = 0; k < 4; k++)
        skipahead(skipped, &state);
    for (int k = 0; k < 4; k++)
        x[i * 4 + k] = curand(&state);
    states[i] = state;
    shares[i] = curand_uniform(&copy);
    exact[i] = curand_uniform_double(&state);
}

/* Draws from each distribution, from n consecutive states. */
#pragma cf kernel grid(n) out(normal[n], pair[n], logarithms[n], doubles[n], counts[n][3])
#pragma cf instances(xorwow: curandState; philox: curandStatePhilox4_32_10_t; mrg: curandStateMRG32k3a_t)
template <typename State>
__global__ void shape(float *normal, float2 *pair, float *logarithms, double *doubles, unsigned *counts,
                      unsigned long long seed, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    State state;
    curand_init(seed, i, 0, &state);
    State same = state, again = state;
    normal[i] = curand_normal(&state);
    pair[i] = curand_normal2(&same);
    logarithms[i] = curand_log_normal(&again, 1, 0.5f);
    const double2 two = curand_normal2_double(&same), logarithm = curand_log_normal2_double(&same, 0, 1);
    doubles[i] = (two.x + two.y + log(logarithm.x) + log(logarithm.y)) / 2;
    counts[i * 3] = curand_poisson(&state, 3);
    counts[i * 3 + 1] = curand_poisson(&state, 100);
    counts[i * 3 + 2] = curand_poisson(&state, 5000);
}

#pragma cf kernel grid(n) out(x[n], shares[n], normal[n], counts[n])
__global__ void fours(uint4 *x, float4 *shares, float4 *normal, uint4 *counts, unsigned long long seed, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, 0, 4 * i, &state);
    curandStatePhilox4_32_10_t same = state, again = state, last = state;
    x[i] = curand4(&state);
    shares[i] = curand_uniform4(&same);
    normal[i] = curand_normal4(&again);
    counts[i] = curand_poisson4(&last, 3);
}

#pragma cf kernel grid(n) in(vectors[1]) out(x[n], scrambled[n], shares[n], normal[n], exact[n])
#pragma cf instances(v32: curandDirectionVectors32_t, curandStateSobol32_t, curandStateScrambledSobol32_t, unsigned; \
                     v64: curandDirectionVectors64_t, curandStateSobol64_t, curandStateScrambledSobol64_t, \
                          unsigned long long)
template <typename Vectors, typename State, typename Scrambled, typename Bits>
__global__ void quasi(Vectors *vectors, Bits *x, Bits *scrambled, double *shares, float *normal, double *exact,
                      Bits scramble, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    State state;
    Scrambled other;
    curand_init(*vectors, i, &state);
    curand_init(*vectors, scramble, i, &other);
    x[i] = curand(&state);
    scrambled[i] = curand(&other);
    curand_init(*vectors, i, &state);
    State same = state;
    shares[i] = curand_uniform_double(&state);
    exact[i] = curand_normal_double(&same);
    curand_init(*vectors, 0, i, &other);
    normal[i] = curand_normal(&other);
}
