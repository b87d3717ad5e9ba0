// A kernel for both beside kernels that only a GPU runs, and code that no kernel with an annotation uses.
#include <cuda_fp16.h>
#include <mma.h>

#include "declared_types.h"

#pragma cf include("declared_types.h")

using namespace nvcuda;

__managed__ float factor = 2;

__global__ void scale_by_factor(float *x)
{
    x[threadIdx.x] *= factor;
}

__device__ void scale_all(float *x, int n) { if (n > 0) { scale_by_factor<<<n, 32>>>(x); } }

__global__ void scale_bodies(body *bodies, int n)
{
#if 1
    scale_all((float *)bodies, n);
    scale_by_factor<<<1, 32>>>((float *)bodies);
#endif
}

/* Tensor cores multiply the tiles. */
#pragma cf kernel blocks(1) block(32) in(a[256], b[256]) out(c[256]) host(none)
__global__ void multiply(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> of_c;
    wmma::fill_fragment(of_c, 0.0f);
    wmma::load_matrix_sync(of_a, a, 16);
    wmma::load_matrix_sync(of_b, b, 16);
    wmma::mma_sync(of_c, of_a, of_b, of_c);
    wmma::store_matrix_sync(c, of_c, 16, wmma::mem_row_major);
}

#pragma cf kernel grid(n) out(y[n]) host(none)
__global__ void look_up(cudaTextureObject_t heights, cudaSurfaceObject_t depths, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = tex1Dfetch<float>(heights, i) + surf1Dread<float>(depths, 4 * i);
}

#pragma cf kernel blocks(1) block(1) in(counter[1]) host(none)
__global__ void go_on(const int *counter, cudaGraphConditionalHandle loop)
{
    cudaGraphSetConditional(loop, *counter > 0);
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void add_1(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

int main()
{
    scale_by_factor<<<1, 1>>>(&factor);
    return cudaDeviceSynchronize();
}
