// Functions that other files call, and calls of functions of theirs.
namespace fluid
{
__device__ float limit(float u, float v);
}
extern "C" __device__ int twice_of(int);
__device__ float unused(float u);

__constant__ float slope;

/* A file may have functions of its own beside them. */
static __device__ float scale(float u)
{
    return slope * u;
}

namespace fluid
{
#pragma cf device
__device__ float flux(float u, float v)
{
    return scale(limit(u, v));
}
}

#pragma cf device host(none)
extern "C" __device__ int lane_of(int x)
{
    return x + threadIdx.x % 32;
}

#pragma cf kernel grid(n) in(u[n]) out(v[n])
__global__ void step(const float *u, float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] = fluid::flux(u[i], 1) + twice_of(i);
}
