/* refused_function_pointer - the right-hand side as a function; expected: a pointer to a function is refused. */
typedef double (*right_hand_side)(double t, double y);

#pragma cf kernel grid(n) inout(y[n])
__global__ void euler_direct(double *y, int n, double (*rhs)(double t, double y), double t, double dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += dt * rhs(t, y[i]);
}

#pragma cf kernel grid(n) inout(y[n])
__global__ void euler(double *y, int n, right_hand_side rhs, double t, double dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += dt * rhs(t, y[i]);
}
