/* fault.cu - the kernels of test_fault.c, each of which uses another feature of launches. */
#include <stdint.h>

__constant__ float factor = 1;

/* Uses no special feature. */
#pragma cf kernel grid(n) in(x[n]) inout(y[n]) split(n)
__global__ void axpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

/* Has launch attributes. GPUs before compute capability 9.0 have no call for them. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#define cudaGridDependencySynchronize()
#endif
#pragma cf kernel blocks(n / 100) block(100) cluster(2) dependent in(x[n]) inout(y[n]) check(n % 200 == 0)
__global__ void axpy_late(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaGridDependencySynchronize();
    if (i < n)
        y[i] += a * x[i];
}

/* Has a check of every element. */
#pragma cf kernel grid(n) in(x[m], index[n]) out(y[n]) check(0 <= index[:] < m)
__global__ void pick(const float *x, const int32_t *index, float *y, int m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]];
}

/* Has rows with a pitch. */
#pragma cf kernel grid(nx, ny) block(32, 8) in(u[ny][nx]) out(v[ny][nx]) pitch(u: ld; v: ld) check(ld >= nx)
__global__ void rows(const float *u, float *v, int nx, int ny, int ld)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        v[y * ld + x] = 2 * u[y * ld + x];
}

/* Has scratch memory, a part of which must be zero. */
#pragma cf kernel grid(1) block(1) in(x[n]) out(y[n]) scratch(copy[n]) zero(copy[n / 2])
__global__ void mirror(const float *x, float *y, float *copy, int n)
{
    for (int i = 0; i < n; i++)
        copy[i] = i < n / 2 ? copy[i] + x[i] : x[i];
    for (int i = 0; i < n; i++)
        y[i] = copy[n - 1 - i];
}

/* Is an operation of three launches that use scratch memory. */
#pragma cf operation in(x[n]) out(y[n]) scratch(one[n], other[n]) zero(one[n / 2]) uses(mirror)
void mirror_often(const float *x, float *y, float *one, float *other, int n);

/* Has constant data in the file, and a block size that the driver chooses. */
#pragma cf kernel grid(n) block(auto) inout(x[n])
__global__ void weigh(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

/* Needs more shared memory than a kernel may use by default. */
#pragma cf kernel blocks(1) block(256) shared(60 * 1024) host(turn_on_cpu) inout(x[n]) check(n <= 15 * 1024)
__global__ void turn(float *x, int n)
{
    extern __shared__ float kept[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        kept[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = kept[n - 1 - i];
}

/* Has threads that wait for one another, for which the CPU needs memory. */
#pragma cf kernel blocks(1) block(256) shared(n * sizeof(float)) inout(x[n]) check(n <= 8 * 1024)
__global__ void turn_together(float *x, int n)
{
    extern __shared__ float kept[];
    __shared__ int last;
    if (threadIdx.x == 0)
        last = n - 1;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        kept[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = kept[last - i];
}

/* Has tuned variants. */
#pragma cf kernel grid(n) block(BLOCK) in(x[n]) inout(y[n]) tune(BLOCK: 64, 128)
template <int BLOCK> __global__ void add(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
