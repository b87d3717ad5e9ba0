/* refused_parameter_pack - a kernel over any number of arrays; expected: a pack has no C prototype. */
#pragma cf kernel grid(n) out(sum[n])
#pragma cf instances(two: float, float)
template <typename... Arrays> __global__ void add_all(float *sum, int n, const Arrays *...arrays)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = (arrays[i] + ...);
}
