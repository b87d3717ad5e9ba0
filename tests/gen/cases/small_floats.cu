/* small_floats - kernels for GPUs take floats of 6 and 4 bits, and e8m0, as the bytes that hold them. */
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#pragma cf kernel grid(n) in(scale[n], x[n]) out(y[n], z[n]) host(none)
__global__ void widen(const __nv_fp8_e8m0 *scale, const __nv_fp4_e2m1 *x, __nv_fp6_e3m2 *y, __nv_fp6_e2m3 *z,
                      __nv_fp4_e2m1 by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __nv_fp6_e3m2((float)x[i] * (float)scale[i]);
        z[i] = __nv_fp6_e2m3((float)x[i] * (float)by);
    }
}

#pragma cf kernel grid(n) inout(a[n], b[n], c[n], d[n], e[n], f[n]) host(none)
__global__ void clear(__nv_fp4x2_e2m1 *a, __nv_fp4x4_e2m1 *b, __nv_fp6x2_e3m2 *c, __nv_fp6x4_e2m3 *d,
                      __nv_fp8x2_e8m0 *e, __nv_fp8x4_e8m0 *f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i].__x = 0;
        b[i].__x = 0;
        c[i].__x = 0;
        d[i].__x = 0;
        e[i].__x = 0;
        f[i].__x = 0;
    }
}
