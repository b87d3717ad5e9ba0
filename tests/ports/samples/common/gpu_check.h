/* gpu_check.h - checks of results of the CUDA runtime, as the host code of many samples has them. */
#ifndef GPU_CHECK_H
#define GPU_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <curand.h>

const std::map<int, std::string> gpu_names = {{70, "Volta"}, {80, "Ampere"}, {90, "Hopper"}};

static const char *name_error(cudaError_t error)
{
    return cudaGetErrorName(error);
}

static const char *name_error(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    default:
        return "<unknown>";
    }
}

static const char *name_error(curandStatus_t status)
{
    return status == CURAND_STATUS_SUCCESS ? "CURAND_STATUS_SUCCESS" : "<unknown>";
}

template <typename T> void check(T result, char const *const call, const char *const file, int line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, static_cast<unsigned int>(result),
                name_error(result), call);
        exit(EXIT_FAILURE);
    }
}
#define checkErrors(value) check((value), #value, __FILE__, __LINE__)

inline int round_up(int a, int b)
{
    return (a % b != 0) ? (a - a % b + b) : a;
}

inline int cores_of(int major, int minor)
{
    typedef struct {
        int version;
        int cores;
    } row_t;
    row_t rows[] = {{0x70, 64}, {0x80, 64}, {0x90, 128}, {-1, -1}};
    for (int i = 0; rows[i].version != -1; ++i)
        if (rows[i].version == ((major << 4) + minor))
            return rows[i].cores;
    throw std::runtime_error("no such GPU: " + gpu_names.at(10 * major + minor));
}

inline int best_device()
{
    int count = 0, best = 0, most = 0;
    checkErrors(cudaGetDeviceCount(&count));
    for (int device = 0; device < count; ++device) {
        int mode = -1, major = 0, minor = 0, multiprocessors = 0;
        checkErrors(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device));
        checkErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
        checkErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
        checkErrors(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        if (mode != cudaComputeModeProhibited && multiprocessors * cores_of(major, minor) > most) {
            most = multiprocessors * cores_of(major, minor);
            best = device;
        }
    }
    return best;
}

#endif
