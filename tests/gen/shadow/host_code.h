/* host_code.h - host code that uses the CUDA runtime, in a header that kernel files include. It must compile for the
 * CPU, and is never called. */
#ifndef HOST_CODE_H
#define HOST_CODE_H

#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t error = call;                                                          \
        if (error != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

__constant__ float coefficient[4];
__managed__ int flag;

__global__ void fill(float *x, int n)
{
    x[0] = n;
}

static inline void copy(float *to, const float *from, size_t n, cudaStream_t stream)
{
    float *device, elapsed;
    int blocks, sm;
    cudaEvent_t start;
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDeviceGetAttribute(&sm, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventRecord(start));
    CHECK(cudaMemcpyAsync(device, from, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyToSymbol(coefficient, from, sizeof(coefficient)));
    CHECK(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
    void *args[] = {&device, &n};
    CHECK(cudaLaunchKernel(fill, dim3(1), dim3(256), args));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(to, device, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaEventElapsedTime(&elapsed, start, start));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(device));
    printf("%s has %d, %g ms\n", properties.name, properties.multiProcessorCount + sm + blocks, elapsed);
}

struct device_deleter {
    void operator()(void *memory) const
    {
        cudaFree(memory);
    }
};

#endif
