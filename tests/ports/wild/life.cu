/* life.cu - cellular automata and histograms: dynamic shared memory of two types, grid strides, unions, old intrinsics. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

typedef unsigned char ubyte;
typedef unsigned int uint;

// dynamic shared memory in templates needs names of its own
template <typename T> struct SharedMem {
    __device__ T *getPointer() { return (T *)0; }
};
template <> struct SharedMem<int> {
    __device__ int *getPointer() { extern __shared__ int s_int[]; return s_int; }
};
template <> struct SharedMem<double> {
    __device__ double *getPointer() { extern __shared__ double s_double[]; return s_double; }
};

extern __shared__ unsigned int s_bins[];

void checkCUDAError(const char *msg);

#pragma cf kernel grid(width * height) block(128) in(lifeData[height][width]) out(resultLifeData[height][width]) check(width > 0, height > 0)
__global__ void simpleLifeKernel(const ubyte *lifeData, uint width, uint height, ubyte *resultLifeData)
{
    uint worldSize = width * height;
    for (uint cellId = __umul24(blockIdx.x, blockDim.x) + threadIdx.x; cellId < worldSize; cellId += blockDim.x * gridDim.x) {
        uint x = cellId % width;
        uint yAbs = cellId - x;
        uint xLeft = (x + width - 1) % width;
        uint xRight = (x + 1) % width;
        uint yAbsUp = (yAbs + worldSize - width) % worldSize;
        uint yAbsDown = (yAbs + width) % worldSize;
        uint aliveCells = lifeData[xLeft + yAbsUp] + lifeData[x + yAbsUp] + lifeData[xRight + yAbsUp] +
                          lifeData[xLeft + yAbs] + lifeData[xRight + yAbs] + lifeData[xLeft + yAbsDown] +
                          lifeData[x + yAbsDown] + lifeData[xRight + yAbsDown];
        resultLifeData[x + yAbs] = aliveCells == 3 || (aliveCells == 2 && lifeData[x + yAbs]) ? 1 : 0;
    }
}

#pragma cf kernel blocks(8) block(64) shared(bins * 4) in(data[n]) inout(histo[bins]) check(bins > 0)
__global__ void histogram(const uint *data, uint *histo, long n, int bins)
{
    for (uint j = threadIdx.x; j < bins; j += blockDim.x) s_bins[j] = 0;
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x)
        atomicAdd(s_bins + data[i] % bins, 1u);
    __syncthreads();
    for (uint j = threadIdx.x; j < bins; j += blockDim.x)
        if (s_bins[j]) atomicAdd(&histo[j], s_bins[j]);
}

#pragma cf kernel blocks(rows) block(64) shared(64 * sizeof(T)) in(a[rows][64]) out(a_max[rows])
#pragma cf instances(i32: int; f64: double)
template <class T> __global__ void row_max(const T *a, T *a_max, int rows)
{
    SharedMem<T> shared;
    T *s = shared.getPointer();
    s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int offset = 32; offset; offset >>= 1) {
        if (threadIdx.x < offset) s[threadIdx.x] = max(s[threadIdx.x], s[threadIdx.x + offset]);
        __syncthreads();
    }
    if (threadIdx.x == 0) a_max[blockIdx.x] = s[0];
}

#pragma cf kernel blocks((n + TILE - 1) / TILE, (n + TILE - 1) / TILE) block(TILE, ROWS) shared(0) in(in[n][n]) out(out[n][n])
#pragma cf instances(t32: 32, 8)
template <int TILE, int ROWS> __global__ void transpose(float const *in, float *out, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
template __global__ void transpose<32, 8>(float const *, float *, int);

double wall() { struct timeval t; gettimeofday(&t, 0); return t.tv_sec + 1e-6 * t.tv_usec; }

int main(void)
{
    ubyte *d_life = 0, *d_result = 0;
    double begin = wall();
    for (int i = 0; i < 10; i++) {
        simpleLifeKernel<<<4, 128>>>(d_life, 64, 64, d_result);
        ubyte *swap = d_life; d_life = d_result; d_result = swap;
    }
    histogram<<<8, 64, 256 * sizeof(uint), 0>>>(0, 0, 0, 256);
    checkCUDAError("kernels");
    printf("%f s\n", wall() - begin);
}

void checkCUDAError(const char *msg)
{
    cudaError_t err = cudaGetLastError();
    if (cudaSuccess != err) {
        fprintf(stderr, "Cuda error: %s: %s.\n", msg, cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}
