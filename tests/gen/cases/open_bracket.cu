/* open_bracket - one that a brace closes, told where it was opened. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void first(float *x, int n)
{
    x[threadIdx.x = n;
}
