/* nvcc_options - device lambdas and constexpr functions in kernels, for which nvcc needs options. */
#include <array>

#if !defined __CUDACC_EXTENDED_LAMBDA__ || !defined __CUDACC_RELAXED_CONSTEXPR__
#error "nvcc needs --extended-lambda and --expt-relaxed-constexpr"
#endif

constexpr std::array<int, 4> steps{{1, 3, 5, 7}};

constexpr int next_step(int i)
{
    return steps[i & 3];
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void climb(int *x, int n)
{
    auto step = [=] __device__(int i) { return next_step(x[i]); };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += step(i) + steps[1];
}

template <typename F> __global__ void run(F f)
{
    f(threadIdx.x);
}

void launch(int *x)
{
    run<<<1, 32>>>([=] __host__ __device__(int i) { x[i] = i; });
}
