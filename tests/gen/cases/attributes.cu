/* attributes - clusters and early beginnings are in the descriptor and the manifest; a dependent kernel that never waits
 * gets a warning. */
/* GPUs before compute capability 9.0 have no such calls. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#define cudaGridDependencySynchronize()
#define cudaTriggerProgrammaticLaunchCompletion()
#define CONTROL(instruction)
#else
#define CONTROL(instruction) asm volatile(instruction ::: "memory")
#endif

#pragma cf kernel blocks(n) block(32) cluster(2) out(x[n])
__global__ void pairs(int *x, int n)
{
    if (threadIdx.x == 0)
        x[blockIdx.x] = 2;
}

#pragma cf kernel blocks(SIZE * n, 2) block(32) cluster(SIZE, 2) out(x[n])
#pragma cf instances(one: 1; four: 4)
template <int SIZE> __global__ void groups(int *x, int n)
{
    if (threadIdx.x == 0 && blockIdx.y == 0 && blockIdx.x % SIZE == 0)
        x[blockIdx.x / SIZE] = SIZE;
}

__device__ void wait_for_results()
{
    cudaGridDependencySynchronize();
}

#pragma cf kernel grid(n) dependent inout(x[n])
__global__ void follow(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
    wait_for_results();
    if (i < n)
        x[i] += 1;
}

#pragma cf kernel grid(n) dependent inout(x[n])
__global__ void follow_by_instruction(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    CONTROL("griddepcontrol.launch_dependents;");
    CONTROL("griddepcontrol.wait;");
    if (i < n)
        x[i] += 1;
}

extern __device__ void wait_elsewhere();

#pragma cf kernel grid(n) dependent inout(x[n]) host(none)
__global__ void follow_by_other_code(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    wait_elsewhere();
    if (i < n)
        x[i] += 1;
}

#pragma cf kernel grid(n) dependent inout(x[n])
__global__ void overtake(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}
