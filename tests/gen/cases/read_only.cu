// Arrays that a kernel promises not to write, through pointers that would let it: C callers pass them as const.
#pragma cf kernel grid(n) in(x[n], y[n], v[n]) out(z[n])
__global__ void add(float *x, float *__restrict__ y, volatile float *v, float *z, int n)
{
    z[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x] + v[threadIdx.x];
}

/* Pointers to rows, and an instance whose elements are const already. */
#pragma cf kernel grid(n) in(rows[n], index[n]) out(z[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void first(T **rows, const int *index, T *z, int n)
{
    z[threadIdx.x] = rows[index[threadIdx.x]][0];
}
