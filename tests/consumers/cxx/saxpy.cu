/* y = a x + y for n elements. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void axpy(T a, const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
