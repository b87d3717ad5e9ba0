/* fake_absent.c - functions of the driver that the fake does not play yet. */
#include "fake_libcuda.h"

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
