/* cluster_dims - the descriptor and the manifest have the size of a kernel's clusters. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define PAIRS __cluster_dims__(2, 1)
#else
#define PAIRS
#endif

#pragma cf kernel blocks(n) block(32) out(x[n])
__global__ void PAIRS two(int *x, int n)
{
    if (threadIdx.x == 0)
        x[blockIdx.x] = 2;
}
