/* refused_anonymous_namespace - a kernel private to its file; expected: it has no name that can be looked up. */
namespace solver
{
namespace
{

#pragma cf kernel grid(n) inout(x[n])
__global__ void negate(double *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = -x[i];
}

} // namespace
} // namespace solver
