/* cuda.h - replaces the toolkit's header when the C++ compiler reads a kernel file: types, and the version. */
#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN && !defined __cuda_cuda_h__
#define __cuda_cuda_h__ /* the toolkit's guard */

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream;
typedef struct CUtensorMap_st {
    alignas(128) unsigned long long opaque[16];
} CUtensorMap;

typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;

extern "C" CUresult cuGetErrorName(CUresult error, const char **name);
extern "C" CUresult cuGetErrorString(CUresult error, const char **text);

#endif
