/* fake_absent.c - functions of the driver that the fake does not play yet. */
#include "fake_libcuda.h"

CUresult fake_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)bytes;
    (void)device;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuDeviceCanAccessPeer(int *possible, CUdevice device, CUdevice peer)
{
    (void)possible;
    (void)device;
    (void)peer;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuDevicePrimaryCtxReset(CUdevice device)
{
    (void)device;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    (void)device;
    (void)flags;
    (void)active;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    (void)least;
    (void)greatest;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    (void)peer;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuCtxDisablePeerAccess(CUcontext peer)
{
    (void)peer;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemGetInfo(size_t *free, size_t *total)
{
    (void)free;
    (void)total;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    (void)pointer;
    (void)bytes;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    (void)pool;
    (void)props;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemPoolDestroy(CUmemoryPool pool)
{
    (void)pool;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    (void)pool;
    (void)attribute;
    (void)value;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)pool;
    (void)keep;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    (void)pointer;
    (void)bytes;
    (void)pool;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                                CUcontext source_context, size_t bytes, CUstream stream)
{
    (void)target;
    (void)target_context;
    (void)source;
    (void)source_context;
    (void)bytes;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    (void)copy;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    (void)stream;
    (void)flags;
    (void)priority;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    (void)status;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)stream;
    (void)mode;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    (void)stream;
    (void)graph;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuLaunchHostFunc(CUstream stream, void (*function)(void *data), void *data)
{
    (void)stream;
    (void)function;
    (void)data;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)exec;
    (void)graph;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    (void)exec;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuGraphDestroy(CUgraph graph)
{
    (void)graph;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuGraphExecDestroy(CUgraphExec exec)
{
    (void)exec;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared)
{
    (void)blocks;
    (void)function;
    (void)threads;
    (void)shared;
    return CUDA_ERROR_NOT_SUPPORTED;
}
