/* attributes - clusters and early beginnings are in the descriptor and the manifest; a dependent kernel that never waits
 * gets a warning. */

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
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
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
