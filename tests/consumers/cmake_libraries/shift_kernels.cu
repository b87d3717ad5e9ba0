#pragma cf kernel grid(n) inout(x[n]) check(n > 1)
__global__ void add(int *x, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += value;
}
