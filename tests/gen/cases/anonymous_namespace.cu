/* anonymous_namespace - kernels and a type that are private to the file. */
namespace solver
{
namespace
{

enum class Sign : int { Plus = 1, Minus = -1 };

#pragma cf kernel grid(n) inout(x[n])
__global__ void negate(double *x, int n, Sign sign)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (int)sign * x[i];
}

} // namespace
} // namespace solver

namespace
{

template <typename T> __device__ T twice(T x)
{
    return x + x;
}

#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void grow(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = twice(x[i]);
}

} // namespace
