// cublas.h - loads the few functions of cuBLAS that the comparisons call, from any installed copy.
#ifndef CUBLAS_LOADED_H
#define CUBLAS_LOADED_H

#include <dlfcn.h>
#include <string>

#include <cuda_runtime.h>

// The functions are declared here, since the library may come with PyTorch, without the toolkit's headers.
struct Cublas {
    typedef struct cublasContext *Handle;
    int (*create)(Handle *), (*destroy)(Handle), (*set_stream)(Handle, cudaStream_t);
    int (*saxpy)(Handle, int, const float *, const float *, int, float *, int);
    int (*sgeam)(Handle, int, int, int, int, const float *, const float *, int, const float *, const float *, int,
                 float *, int);
};

inline bool load_cublas(Cublas *blas)
{
    void *library = nullptr;
    std::string names[] = {"libcublas.so." + std::to_string(CUDART_VERSION / 1000), "libcublas.so.13",
                           "libcublas.so.12", "libcublas.so"};
    for (const std::string &name : names)
        if (!library)
            library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return false;
    *(void **)&blas->create = dlsym(library, "cublasCreate_v2");
    *(void **)&blas->destroy = dlsym(library, "cublasDestroy_v2");
    *(void **)&blas->set_stream = dlsym(library, "cublasSetStream_v2");
    *(void **)&blas->saxpy = dlsym(library, "cublasSaxpy_v2");
    *(void **)&blas->sgeam = dlsym(library, "cublasSgeam");
    return blas->create && blas->destroy && blas->set_stream && blas->saxpy && blas->sgeam;
}

// A handle for a stream; nullptr if the library is not installed.
struct CublasOnStream : Cublas {
    Handle handle = nullptr;
    explicit CublasOnStream(cudaStream_t stream)
    {
        if (!load_cublas(this) || create(&handle) != 0 || set_stream(handle, stream) != 0)
            handle = nullptr;
    }
    ~CublasOnStream()
    {
        if (handle)
            (void)destroy(handle);
    }
    CublasOnStream(const CublasOnStream &) = delete;
    CublasOnStream &operator=(const CublasOnStream &) = delete;
};

#endif
