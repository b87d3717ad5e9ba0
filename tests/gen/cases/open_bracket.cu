/* open_bracket - a bracket closed by a brace; the message has the place of the bracket. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void first(float *x, int n)
{
    x[threadIdx.x = n;
}
