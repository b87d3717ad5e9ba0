/* refused_default_argument - a value that callers may leave out; expected: C callers cannot. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void shift(double *x, int n, double by = 1.0)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += by;
}
