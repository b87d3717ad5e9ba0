/* resident - pointers without an extent, with resident(...) and with a warning; all are accepted. */

#pragma cf kernel grid(n) out(y[n]) resident(table, raw)
__global__ void told(const float *table, float *y, void *raw, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = table[i];
}

#pragma cf kernel grid(n) out(y[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void forgotten(const T *u, T *y, float *const *rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = u[i];
}

#pragma cf operation internal out(y[n]) uses(told)
void chained(const float *u, float *y, int n);
