/* dependent.cu - kernels that may begin before the kernel before them ends, for test_dependent.c. */

/* GPUs before compute capability 9.0 have no instructions for this. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#define cudaGridDependencySynchronize()
#define cudaTriggerProgrammaticLaunchCompletion()
#define WAIT()
#else
#define WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
#endif

/* Reads x in reverse order, so that blocks need results of blocks that ran late. */
#pragma cf kernel grid(n) block(128) dependent in(x[n]) out(y[n])
__global__ void turn(const int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    if (i < n)
        y[i] = x[n - 1 - i] + 1;
}

/* Reads x in reverse order with pairs of blocks, and waits with the PTX instruction itself. */
#pragma cf kernel blocks(n / 64) block(64) cluster(2) dependent in(x[n]) out(y[n]) check(n % 128 == 0)
__global__ void turn_in_pairs(const int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    WAIT();
    y[i] = x[n - 1 - i] + 1;
}
