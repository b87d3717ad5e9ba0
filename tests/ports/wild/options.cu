/* options.cu - prices by simulation: cuRAND and a generator of its own, printf, assert, clocks, code for both sides. */
#include <curand.h>
#include <curand_kernel.h>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#define CURAND_CALL(x) do { if((x)!=CURAND_STATUS_SUCCESS) { \
    printf("Error at %s:%d\n",__FILE__,__LINE__); exit(1);}} while(0)

namespace mc {
struct Rng {
    unsigned long long state;
    __host__ __device__ explicit Rng(unsigned long long seed) : state(seed * 6364136223846793005ULL + 1442695040888963407ULL) {}
    __host__ __device__ unsigned next()
    {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (unsigned)(state >> 32);
    }
    __host__ __device__ double uniform() { return (next() + 0.5) / 4294967296.0; }
};
inline bool operator==(const Rng &a, const Rng &b) { return a.state == b.state; }

struct Option {
    double spot = 100, strike = 100, rate = 0.05, volatility = 0.2;
    float years{1};
    enum Kind { CALL, PUT } kind = CALL;
};

class Payoff
{
  public:
    __host__ __device__ Payoff(const Option &option) : option_(option) {}
    __host__ __device__ double operator()(double price) const
    {
        return option_.kind == Option::CALL ? std::max(price - option_.strike, 0.0) : fmax(option_.strike - price, 0.0);
    }

  private:
    const Option &option_;
};
} // namespace mc

__device__ long long spent;

#pragma cf kernel host(none) grid(n) out(state[n])
__global__ void setup(curandState *state, unsigned long long seed, int n)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id < n) curand_init(seed, id, 0, &state[id]);
}

#pragma cf kernel grid(n) block(128) out(prices[n]) check(steps >= 1) tolerance(1e-9)
__global__ void simulate(double *prices, mc::Option option, int n, int steps, unsigned long long seed)
{
    long long begin = clock64();
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    assert(steps > 0);
    mc::Rng rng(seed + i);
    const double dt = option.years / steps;
    double price = option.spot;
    for (int s = 0; s < steps; ++s) {
        double u1 = rng.uniform(), u2 = rng.uniform();
        double z = std::sqrt(-2 * std::log(u1)) * std::cos(2 * M_PI * u2);
        price *= exp((option.rate - 0.5 * option.volatility * option.volatility) * dt + option.volatility * sqrt(dt) * z);
    }
    if (!isfinite(price)) printf("thread %d: %f after %lld clocks\n", i, price, clock64() - begin);
    prices[i] = exp(-option.rate * option.years) * mc::Payoff(option)(price);
    if (i == 0) spent = clock64() - begin;
}

static std::mt19937_64 engine{std::random_device{}()};
const std::string banner = "prices";

int main(int argc, char *argv[])
{
    if (argc > 2) throw std::invalid_argument(banner);
    curandGenerator_t gen;
    CURAND_CALL(curandCreateGenerator(&gen, CURAND_RNG_PSEUDO_DEFAULT));
    CURAND_CALL(curandSetPseudoRandomGeneratorSeed(gen, engine()));
    float *devData;
    cudaMalloc((void **)&devData, 100 * sizeof(float));
    CURAND_CALL(curandGenerateUniform(gen, devData, 100));
    curandState *devStates;
    cudaMalloc(&devStates, 64 * sizeof(curandState));
    setup<<<1, 64>>>(devStates, 1234ULL, 64);
    mc::Option option;
    option.kind = mc::Option::PUT;
    simulate<<<1, 64>>>(nullptr, option, 0, 10, 5);
    CURAND_CALL(curandDestroyGenerator(gen));
}
