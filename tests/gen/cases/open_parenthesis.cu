/* open_parenthesis - a parameter list that is never closed. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void first(float *x, int n
{
    x[threadIdx.x] = n;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void second(float *x, int n)
{
    x[threadIdx.x] = n;
}
