#pragma cg kernel grid(n)
__global__ void mistyped(int n);
