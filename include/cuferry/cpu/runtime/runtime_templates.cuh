/* runtime_templates.cuh - C++ forms of the runtime's functions: typed pointers, symbols and kernels. */
#ifndef CUFERRY_CPU_RUNTIME_TEMPLATES_CUH
#define CUFERRY_CPU_RUNTIME_TEMPLATES_CUH

#include "runtime.cuh"

template <typename T> CF__FN cudaError_t cudaMalloc(T **memory, size_t size)
{
    return cudaMalloc((void **)memory, size);
}

template <typename T> CF__FN cudaError_t cudaMallocAsync(T **memory, size_t size, cudaStream_t stream)
{
    return cudaMallocAsync((void **)memory, size, stream);
}

template <typename T> CF__FN cudaError_t cudaMallocHost(T **memory, size_t size, unsigned int flags = 0)
{
    return cudaHostAlloc((void **)memory, size, flags);
}

template <typename T> CF__FN cudaError_t cudaHostAlloc(T **memory, size_t size, unsigned int flags)
{
    return cudaHostAlloc((void **)memory, size, flags);
}

template <typename T>
CF__FN cudaError_t cudaMallocManaged(T **memory, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)memory, size, flags);
}

template <typename T> CF__FN cudaError_t cudaMallocPitch(T **memory, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)memory, pitch, width, height);
}

template <typename T> CF__FN cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags)
{
    return cudaHostGetDevicePointer((void **)device, host, flags);
}

template <typename T>
CF__FN cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpyToSymbol((const void *)&symbol, from, size, offset, kind);
}

template <typename T>
CF__FN cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, size, offset, kind);
}

template <typename T>
CF__FN cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset = 0,
                                           enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    return cudaMemcpyToSymbolAsync((const void *)&symbol, from, size, offset, kind, stream);
}

template <typename T> CF__FN cudaError_t cudaGetSymbolAddress(void **memory, const T &symbol)
{
    return cudaGetSymbolAddress(memory, (const void *)&symbol);
}

template <typename T> CF__FN cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol)
{
    return cudaGetSymbolSize(size, (const void *)&symbol);
}

template <typename T>
CF__FN cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                    cudaStream_t stream = 0)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}

template <typename T>
CF__FN cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                               cudaStream_t stream = 0)
{
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args, shared, stream);
}

template <typename T> CF__FN cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, T *kernel)
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}

template <typename T> CF__FN cudaError_t cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}

template <typename T> CF__FN cudaError_t cudaFuncSetCacheConfig(T *kernel, enum cudaFuncCache config)
{
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}

template <typename T>
CF__FN cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block, shared);
}

#endif
