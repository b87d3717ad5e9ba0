/* driver.h - the driver table: the CUDA driver API as a struct of function pointers, filled from libcuda or by the CPU
 * driver.
 *
 * Signatures are those of version 12.0 of the driver API. The declarations here are left out if <cuda.h> is included
 * first, so that test_driver.c can compare them with the toolkit's headers. */
#ifndef CF__DRIVER_H
#define CF__DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* ---- Types and constants ---- */

/* Opaque pointers have the toolkit's struct tags, so that its types and ours are compatible where both are declared. */
#define CF__DRIVER_TYPES(X)                      \
    X(CUresult, unsigned int)                    \
    X(CUdevice, int)                             \
    X(CUdeviceptr, unsigned long long)           \
    X(CUcontext, struct CUctx_st *)              \
    X(CUstream, struct CUstream_st *)            \
    X(CUevent, struct CUevent_st *)              \
    X(CUfunction, struct CUfunc_st *)            \
    X(CUmodule, struct CUmod_st *)               \
    X(CUlibrary, struct CUlib_st *)              \
    X(CUkernel, struct CUkern_st *)              \
    X(CUdevice_attribute, unsigned int)          \
    X(CUpointer_attribute, unsigned int)         \
    X(CUfunction_attribute, unsigned int)        \
    X(CUmemorytype, unsigned int)                \
    X(CUarray, struct CUarray_st *)              \
    X(CUjit_option, unsigned int)                \
    X(CUlibraryOption, unsigned int)             \
    X(CUstreamCaptureMode, unsigned int)         \
    X(CUstreamCaptureStatus, unsigned int)       \
    X(CUgraph, struct CUgraph_st *)              \
    X(CUgraphExec, struct CUgraphExec_st *)      \
    X(CUgraphNode, struct CUgraphNode_st *)      \
    X(CUlaunchAttributeID, unsigned int)         \
    X(CUmemoryPool, struct CUmemPoolHandle_st *) \
    X(CUmemPool_attribute, unsigned int)         \
    X(CUmemAccess_flags, unsigned int)

#define CF__DRIVER_CONSTANTS(X)                                  \
    X(CUDA_SUCCESS, 0)                                           \
    X(CUDA_ERROR_INVALID_VALUE, 1)                               \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                               \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                             \
    X(CUDA_ERROR_DEINITIALIZED, 4)                               \
    X(CUDA_ERROR_STUB_LIBRARY, 34)                               \
    X(CUDA_ERROR_NO_DEVICE, 100)                                 \
    X(CUDA_ERROR_INVALID_DEVICE, 101)                            \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                             \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                           \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                         \
    X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)                   \
    X(CUDA_ERROR_INVALID_PTX, 218)                               \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                    \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                   \
    X(CUDA_ERROR_INVALID_SOURCE, 300)                            \
    X(CUDA_ERROR_INVALID_HANDLE, 400)                            \
    X(CUDA_ERROR_ILLEGAL_STATE, 401)                             \
    X(CUDA_ERROR_NOT_FOUND, 500)                                 \
    X(CUDA_ERROR_NOT_READY, 600)                                 \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                           \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                   \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                            \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                      \
    X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)               \
    X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705)                   \
    X(CUDA_ERROR_ASSERT, 710)                                    \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                      \
    X(CUDA_ERROR_LAUNCH_FAILED, 719)                             \
    X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)              \
    X(CUDA_ERROR_NOT_PERMITTED, 800)                             \
    X(CUDA_ERROR_NOT_SUPPORTED, 801)                             \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                    \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)            \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                \
    X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                \
    X(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902)                      \
    X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903)                  \
    X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904)                   \
    X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905)                  \
    X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)                   \
    X(CUDA_ERROR_CAPTURED_EVENT, 907)                            \
    X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)               \
    X(CUDA_ERROR_UNKNOWN, 999)                                   \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)              \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                         \
    X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)           \
    X(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                        \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)              \
    X(CU_DEVICE_ATTRIBUTE_INTEGRATED, 18)                        \
    X(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                        \
    X(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                     \
    X(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                     \
    X(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                 \
    X(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)           \
    X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                     \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)    \
    X(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 40)                \
    X(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83)                    \
    X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 88)            \
    X(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                \
    X(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)           \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)          \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)          \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97) \
    X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                    \
    X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                     \
    X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                             \
    X(CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6)                       \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)        \
    X(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)   \
    X(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 2)                        \
    X(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                  \
    X(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)  \
    X(CU_JIT_ERROR_LOG_BUFFER, 5)                                \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                     \
    X(CU_POINTER_ATTRIBUTE_CONTEXT, 1)                           \
    X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                       \
    X(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, 3)                    \
    X(CU_POINTER_ATTRIBUTE_IS_MANAGED, 8)                        \
    X(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                    \
    X(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 11)                 \
    X(CU_POINTER_ATTRIBUTE_RANGE_SIZE, 12)                       \
    X(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 17)                   \
    X(CU_MEMORYTYPE_HOST, 1)                                     \
    X(CU_MEMORYTYPE_DEVICE, 2)                                   \
    X(CU_MEMORYTYPE_UNIFIED, 4)                                  \
    X(CU_STREAM_NON_BLOCKING, 1)                                 \
    X(CU_STREAM_CAPTURE_MODE_GLOBAL, 0)                          \
    X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                         \
    X(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                    \
    X(CU_STREAM_CAPTURE_STATUS_NONE, 0)                          \
    X(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                        \
    X(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2)                   \
    X(CU_MEMHOSTALLOC_PORTABLE, 1)                               \
    X(CU_MEM_ALLOCATION_TYPE_PINNED, 1)                          \
    X(CU_MEM_LOCATION_TYPE_DEVICE, 1)                            \
    X(CU_MEM_ACCESS_FLAGS_PROT_NONE, 0)                          \
    X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                     \
    X(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                      \
    X(CU_EVENT_DEFAULT, 0)                                       \
    X(CU_EVENT_BLOCKING_SYNC, 1)                                 \
    X(CU_EVENT_DISABLE_TIMING, 2)

/* The fields of CUDA_MEMCPY2D, a copy of rows. */
#define CF__MEMCPY2D_FIELDS(X)     \
    X(size_t, srcXInBytes)         \
    X(size_t, srcY)                \
    X(CUmemorytype, srcMemoryType) \
    X(const void *, srcHost)       \
    X(CUdeviceptr, srcDevice)      \
    X(CUarray, srcArray)           \
    X(size_t, srcPitch)            \
    X(size_t, dstXInBytes)         \
    X(size_t, dstY)                \
    X(CUmemorytype, dstMemoryType) \
    X(void *, dstHost)             \
    X(CUdeviceptr, dstDevice)      \
    X(CUarray, dstArray)           \
    X(size_t, dstPitch)            \
    X(size_t, WidthInBytes)        \
    X(size_t, Height)

/* The fields of CUmemPoolProps up to maxSize; later fields, of newer versions, are zero. */
#define CF__POOL_LOCATION_FIELDS(X) \
    X(unsigned int, type)           \
    X(int, id)
#define CF__POOL_PROPS_FIELDS(X)       \
    X(unsigned int, allocType)         \
    X(unsigned int, handleTypes)       \
    X(CUmemLocation, location)         \
    X(void *, win32SecurityAttributes) \
    X(size_t, maxSize)

/* The fields of CUmemAccessDesc. */
#define CF__ACCESS_FIELDS(X)   \
    X(CUmemLocation, location) \
    X(CUmemAccess_flags, flags)

/* The fields of CUlaunchConfig. */
#define CF__LAUNCH_CONFIG_FIELDS(X) \
    X(unsigned int, gridDimX)       \
    X(unsigned int, gridDimY)       \
    X(unsigned int, gridDimZ)       \
    X(unsigned int, blockDimX)      \
    X(unsigned int, blockDimY)      \
    X(unsigned int, blockDimZ)      \
    X(unsigned int, sharedMemBytes) \
    X(CUstream, hStream)            \
    X(CUlaunchAttribute *, attrs)   \
    X(unsigned int, numAttrs)

/* The fields of CUgraphEdgeData, which CUDA 12.3 introduced. */
#define CF__EDGE_FIELDS(X)      \
    X(unsigned char, from_port) \
    X(unsigned char, to_port)   \
    X(unsigned char, type)

/* The fields of CUDA_KERNEL_NODE_PARAMS_v2. */
#define CF__KERNEL_NODE_FIELDS(X)   \
    X(CUfunction, func)             \
    X(unsigned int, gridDimX)       \
    X(unsigned int, gridDimY)       \
    X(unsigned int, gridDimZ)       \
    X(unsigned int, blockDimX)      \
    X(unsigned int, blockDimY)      \
    X(unsigned int, blockDimZ)      \
    X(unsigned int, sharedMemBytes) \
    X(void **, kernelParams)        \
    X(void **, extra)               \
    X(CUkernel, kern)               \
    X(CUcontext, ctx)

#ifndef __cuda_cuda_h__ /* include guard of <cuda.h> */
#define CF__DRIVER_TYPEDEF(name, type) typedef type name;
CF__DRIVER_TYPES(CF__DRIVER_TYPEDEF)
#undef CF__DRIVER_TYPEDEF

enum {
#define CF__DRIVER_ENUM(name, value) name = (value),
    CF__DRIVER_CONSTANTS(CF__DRIVER_ENUM)
#undef CF__DRIVER_ENUM
};

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

#define CF__MEMCPY2D_FIELD(type, name) type name;
typedef struct CUDA_MEMCPY2D_st {
    CF__MEMCPY2D_FIELDS(CF__MEMCPY2D_FIELD)
} CUDA_MEMCPY2D;
#undef CF__MEMCPY2D_FIELD

#define CF__POOL_FIELD(type, name) type name;
typedef struct CUmemLocation_st {
    CF__POOL_LOCATION_FIELDS(CF__POOL_FIELD)
} CUmemLocation;
typedef struct CUmemPoolProps_st {
    CF__POOL_PROPS_FIELDS(CF__POOL_FIELD)
    unsigned char reserved[56];
} CUmemPoolProps;
#define CF__ACCESS_FIELD(type, name) type name;
typedef struct CUmemAccessDesc_st {
    CF__ACCESS_FIELDS(CF__ACCESS_FIELD)
} CUmemAccessDesc;
#undef CF__ACCESS_FIELD
#undef CF__POOL_FIELD

/* The union has only the members that the library uses. */
typedef union CUlaunchAttributeValue_union {
    char pad[64];
    int cooperative;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
} CUlaunchAttributeValue;
typedef struct CUlaunchAttribute_st {
    CUlaunchAttributeID id;
    char pad[8 - sizeof(CUlaunchAttributeID)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;
#define CF__LAUNCH_FIELD(type, name) type name;
typedef struct CUlaunchConfig_st {
    CF__LAUNCH_CONFIG_FIELDS(CF__LAUNCH_FIELD)
} CUlaunchConfig;
typedef struct CUgraphEdgeData_st {
    CF__EDGE_FIELDS(CF__LAUNCH_FIELD)
    unsigned char reserved[5];
} CUgraphEdgeData;
typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
    CF__KERNEL_NODE_FIELDS(CF__LAUNCH_FIELD)
} CUDA_KERNEL_NODE_PARAMS_v2;
#undef CF__LAUNCH_FIELD

#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)
#endif

/* ---- Functions ---- */

/* API version with which functions are looked up in libcuda; newer functions have their own version. */
#define CF__DRIVER_VERSION 12000

/* Each entry has a name, the version of the signature, the parameters and their names. The functions that launches call
 * come first, in one cache line. A function newer than CF__DRIVER_VERSION may be NULL in a table. A newer signature has
 * an underscore and a suffix, which the driver's own name does not have. */
#define CF__DRIVER_FUNCS(X)                                                                                           \
    X(cuLaunchKernel, 4000,                                                                                           \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,      \
       unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **args, void **extra),  \
      (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, args, extra))                     \
    X(cuCtxGetId, 12000, (CUcontext context, unsigned long long *id), (context, id))                                  \
    X(cuGraphLaunch, 10000, (CUgraphExec exec, CUstream stream), (exec, stream))                                      \
    X(cuCtxGetCurrent, 4000, (CUcontext * context), (context))                                                        \
    X(cuPointerGetAttributes, 7000,                                                                                   \
      (unsigned int count, CUpointer_attribute *attributes, void **data, CUdeviceptr pointer),                        \
      (count, attributes, data, pointer))                                                                             \
    X(cuStreamIsCapturing, 10000, (CUstream stream, CUstreamCaptureStatus * status), (stream, status))                \
    X(cuThreadExchangeStreamCaptureMode, 10010, (CUstreamCaptureMode * mode), (mode))                                 \
    X(cuStreamSynchronize, 2000, (CUstream stream), (stream))                                                         \
    X(cuInit, 2000, (unsigned int flags), (flags))                                                                    \
    X(cuDriverGetVersion, 2020, (int *version), (version))                                                            \
    X(cuGetErrorName, 6000, (CUresult result, const char **name), (result, name))                                     \
    X(cuGetErrorString, 6000, (CUresult result, const char **text), (result, text))                                   \
    X(cuDeviceGetCount, 2000, (int *count), (count))                                                                  \
    X(cuDeviceGet, 2000, (CUdevice * device, int ordinal), (device, ordinal))                                         \
    X(cuDeviceGetName, 2000, (char *name, int size, CUdevice device), (name, size, device))                           \
    X(cuDeviceGetAttribute, 2000, (int *value, CUdevice_attribute attribute, CUdevice device),                        \
      (value, attribute, device))                                                                                     \
    X(cuDevicePrimaryCtxRetain, 7000, (CUcontext * context, CUdevice device), (context, device))                      \
    X(cuDevicePrimaryCtxRelease, 11000, (CUdevice device), (device))                                                  \
    X(cuCtxPushCurrent, 4000, (CUcontext context), (context))                                                         \
    X(cuCtxPopCurrent, 4000, (CUcontext * context), (context))                                                        \
    X(cuCtxGetDevice, 2000, (CUdevice * device), (device))                                                            \
    X(cuCtxSynchronize, 2000, (void), ())                                                                             \
    X(cuMemAlloc, 3020, (CUdeviceptr * pointer, size_t bytes), (pointer, bytes))                                      \
    X(cuMemFree, 3020, (CUdeviceptr pointer), (pointer))                                                              \
    X(cuMemcpy, 4000, (CUdeviceptr target, CUdeviceptr source, size_t bytes), (target, source, bytes))                \
    X(cuMemAllocAsync, 11020, (CUdeviceptr * pointer, size_t bytes, CUstream stream), (pointer, bytes, stream))       \
    X(cuMemFreeAsync, 11020, (CUdeviceptr pointer, CUstream stream), (pointer, stream))                               \
    X(cuMemcpy2D, 3020, (const CUDA_MEMCPY2D *copy), (copy))                                                          \
    X(cuMemcpyAsync, 4000, (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),                   \
      (target, source, bytes, stream))                                                                                \
    X(cuMemsetD8Async, 3020, (CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream),                \
      (target, value, bytes, stream))                                                                                 \
    X(cuStreamCreate, 2000, (CUstream * stream, unsigned int flags), (stream, flags))                                 \
    X(cuStreamDestroy, 4000, (CUstream stream), (stream))                                                             \
    X(cuStreamQuery, 2000, (CUstream stream), (stream))                                                               \
    X(cuStreamWaitEvent, 3020, (CUstream stream, CUevent event, unsigned int flags), (stream, event, flags))          \
    X(cuStreamGetCtx, 9020, (CUstream stream, CUcontext * context), (stream, context))                                \
    X(cuStreamGetId, 12000, (CUstream stream, unsigned long long *id), (stream, id))                                  \
    X(cuEventCreate, 2000, (CUevent * event, unsigned int flags), (event, flags))                                     \
    X(cuEventDestroy, 4000, (CUevent event), (event))                                                                 \
    X(cuEventRecord, 2000, (CUevent event, CUstream stream), (event, stream))                                         \
    X(cuEventSynchronize, 2000, (CUevent event), (event))                                                             \
    X(cuEventQuery, 2000, (CUevent event), (event))                                                                   \
    X(cuEventElapsedTime, 2000, (float *milliseconds, CUevent start, CUevent stop), (milliseconds, start, stop))      \
    X(cuLibraryLoadData, 12000,                                                                                       \
      (CUlibrary * library, const void *code, CUjit_option *jit_options, void **jit_values, unsigned int jit_count,   \
       CUlibraryOption *options, void **values, unsigned int count),                                                  \
      (library, code, jit_options, jit_values, jit_count, options, values, count))                                    \
    X(cuLibraryUnload, 12000, (CUlibrary library), (library))                                                         \
    X(cuLibraryGetModule, 12000, (CUmodule * module, CUlibrary library), (module, library))                           \
    X(cuLibraryGetKernel, 12000, (CUkernel * kernel, CUlibrary library, const char *name), (kernel, library, name))   \
    X(cuLibraryGetGlobal, 12000, (CUdeviceptr * pointer, size_t * bytes, CUlibrary library, const char *name),        \
      (pointer, bytes, library, name))                                                                                \
    X(cuKernelGetFunction, 12000, (CUfunction * function, CUkernel kernel), (function, kernel))                       \
    X(cuKernelGetParamInfo, 12040, (CUkernel kernel, size_t index, size_t * offset, size_t * size),                   \
      (kernel, index, offset, size))                                                                                  \
    X(cuFuncGetAttribute, 2020, (int *value, CUfunction_attribute attribute, CUfunction function),                    \
      (value, attribute, function))                                                                                   \
    X(cuFuncSetAttribute, 9000, (CUfunction function, CUfunction_attribute attribute, int value),                     \
      (function, attribute, value))                                                                                   \
    X(cuOccupancyMaxPotentialBlockSize, 6050,                                                                         \
      (int *grid, int *block, CUfunction function, size_t (*shared_of)(int block), size_t shared, int limit),         \
      (grid, block, function, shared_of, shared, limit))                                                              \
    X(cuLaunchKernelEx, 11060, (const CUlaunchConfig *config, CUfunction function, void **args, void **extra),        \
      (config, function, args, extra))                                                                                \
    X(cuDeviceTotalMem, 3020, (size_t * bytes, CUdevice device), (bytes, device))                                     \
    X(cuDeviceGetUuid, 11040, (CUuuid * uuid, CUdevice device), (uuid, device))                                       \
    X(cuDeviceCanAccessPeer, 4000, (int *possible, CUdevice device, CUdevice peer), (possible, device, peer))         \
    X(cuDevicePrimaryCtxReset, 11000, (CUdevice device), (device))                                                    \
    X(cuDevicePrimaryCtxGetState, 7000, (CUdevice device, unsigned int *flags, int *active), (device, flags, active)) \
    X(cuCtxGetStreamPriorityRange, 5050, (int *least, int *greatest), (least, greatest))                              \
    X(cuCtxEnablePeerAccess, 4000, (CUcontext peer, unsigned int flags), (peer, flags))                               \
    X(cuCtxDisablePeerAccess, 4000, (CUcontext peer), (peer))                                                         \
    X(cuMemGetInfo, 3020, (size_t * free, size_t * total), (free, total))                                             \
    X(cuMemHostAlloc, 2020, (void **pointer, size_t bytes, unsigned int flags), (pointer, bytes, flags))              \
    X(cuMemFreeHost, 2000, (void *pointer), (pointer))                                                                \
    X(cuMemPoolCreate, 11020, (CUmemoryPool * pool, const CUmemPoolProps *props), (pool, props))                      \
    X(cuMemPoolDestroy, 11020, (CUmemoryPool pool), (pool))                                                           \
    X(cuMemPoolSetAttribute, 11020, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value),                  \
      (pool, attribute, value))                                                                                       \
    X(cuMemPoolTrimTo, 11020, (CUmemoryPool pool, size_t keep), (pool, keep))                                         \
    X(cuMemPoolSetAccess, 11020, (CUmemoryPool pool, const CUmemAccessDesc *access, size_t count),                    \
      (pool, access, count))                                                                                          \
    X(cuMemAllocFromPoolAsync, 11020, (CUdeviceptr * pointer, size_t bytes, CUmemoryPool pool, CUstream stream),      \
      (pointer, bytes, pool, stream))                                                                                 \
    X(cuMemcpyPeerAsync, 4000,                                                                                        \
      (CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context, size_t bytes,      \
       CUstream stream),                                                                                              \
      (target, target_context, source, source_context, bytes, stream))                                                \
    X(cuMemcpy2DAsync, 3020, (const CUDA_MEMCPY2D *copy, CUstream stream), (copy, stream))                            \
    X(cuStreamCreateWithPriority, 5050, (CUstream * stream, unsigned int flags, int priority),                        \
      (stream, flags, priority))                                                                                      \
    X(cuStreamBeginCapture, 10010, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))                       \
    X(cuStreamEndCapture, 10000, (CUstream stream, CUgraph * graph), (stream, graph))                                 \
    X(cuStreamGetCaptureInfo, 11030,                                                                                  \
      (CUstream stream, CUstreamCaptureStatus * status, uint64_t * id, CUgraph * graph, const CUgraphNode **nodes,    \
       size_t *count),                                                                                                \
      (stream, status, id, graph, nodes, count))                                                                      \
    X(cuStreamGetCaptureInfo_edges, 12030,                                                                            \
      (CUstream stream, CUstreamCaptureStatus * status, uint64_t * id, CUgraph * graph, const CUgraphNode **nodes,    \
       const CUgraphEdgeData **edges, size_t *count),                                                                 \
      (stream, status, id, graph, nodes, edges, count))                                                               \
    X(cuLaunchHostFunc, 10000, (CUstream stream, void (*function)(void *data), void *data), (stream, function, data)) \
    X(cuGraphInstantiateWithFlags, 11040, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),              \
      (exec, graph, flags))                                                                                           \
    X(cuGraphDestroy, 10000, (CUgraph graph), (graph))                                                                \
    X(cuGraphExecDestroy, 10000, (CUgraphExec exec), (exec))                                                          \
    X(cuGraphKernelNodeGetParams, 12000, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 * params), (node, params))     \
    X(cuGraphExecKernelNodeSetParams, 12000,                                                                          \
      (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params), (exec, node, params))           \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                                                              \
      (int *blocks, CUfunction function, int threads, size_t shared), (blocks, function, threads, shared))

struct cf__driver {
    int is_cpu; /* 1 for the CPU driver, which runs kernels from their descriptors and loads no images */
#define CF__DRIVER_FIELD(name, version, parameters, names) CUresult(*name) parameters;
    CF__DRIVER_FUNCS(CF__DRIVER_FIELD)
#undef CF__DRIVER_FIELD
};

/* An id that no context has. */
#define CF__NO_CONTEXT (UINT64_MAX - 1)

#endif
