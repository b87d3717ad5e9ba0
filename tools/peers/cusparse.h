// cusparse.h - loads the few functions of cuSPARSE that the comparison calls, from any installed copy.
#ifndef CUSPARSE_LOADED_H
#define CUSPARSE_LOADED_H

#include <dlfcn.h>
#include <string>

#include <cuda_runtime.h>

// The functions are declared here, since the library may come with PyTorch, without the toolkit's headers.
struct Cusparse {
    typedef struct cusparseContext *Handle;
    typedef struct cusparseSpMatDescr *Matrix;
    typedef struct cusparseDnVecDescr *Vector;
    enum { as_it_is = 0, index_32 = 2, from_zero = 0, f32 = 0, csr_alg1 = 2, csr_alg2 = 3 };
    int (*create)(Handle *), (*destroy)(Handle), (*set_stream)(Handle, cudaStream_t);
    int (*create_csr)(Matrix *, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int);
    int (*destroy_matrix)(Matrix), (*create_vector)(Vector *, int64_t, void *, int), (*destroy_vector)(Vector);
    int (*buffer_size)(Handle, int, const void *, Matrix, Vector, const void *, Vector, int, int, size_t *);
    int (*preprocess)(Handle, int, const void *, Matrix, Vector, const void *, Vector, int, int, void *);
    int (*spmv)(Handle, int, const void *, Matrix, Vector, const void *, Vector, int, int, void *);
};

inline bool load_cusparse(Cusparse *sparse)
{
    void *library = nullptr;
    for (const char *name : {"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so"})
        if (!library)
            library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    bool has_all = library != nullptr;
    auto look_up = [&](auto &function, const char *name) {
        *(void **)&function = library ? dlsym(library, name) : nullptr;
        has_all = has_all && function;
    };
    look_up(sparse->create, "cusparseCreate");
    look_up(sparse->destroy, "cusparseDestroy");
    look_up(sparse->set_stream, "cusparseSetStream");
    look_up(sparse->create_csr, "cusparseCreateCsr");
    look_up(sparse->destroy_matrix, "cusparseDestroySpMat");
    look_up(sparse->create_vector, "cusparseCreateDnVec");
    look_up(sparse->destroy_vector, "cusparseDestroyDnVec");
    look_up(sparse->buffer_size, "cusparseSpMV_bufferSize");
    look_up(sparse->preprocess, "cusparseSpMV_preprocess");
    look_up(sparse->spmv, "cusparseSpMV");
    return has_all;
}

#endif
