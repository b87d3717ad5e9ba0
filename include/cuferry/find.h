/* cuferry/find.h - finds the parts of CUDA that a program may open or compile with. */
#ifndef CUFERRY_FIND_H
#define CUFERRY_FIND_H

#include <cuferry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The parts: name of the library, name of its header. */
#define CF_PART_LIST(X)           \
    X("libcuda", "cuda.h")        \
    X("nvrtc", "nvrtc.h")         \
    X("nvJitLink", "nvJitLink.h") \
    X("nccl", "nccl.h")           \
    X("cudart", "cuda_runtime.h") \
    X("cublas", "cublas_v2.h")    \
    X("cusparse", "cusparse.h")

/* Finds a part of CUDA 12 or 13 and writes its path to `path`. `name` is a name of the list: for a library the path is
 * its file, for a header the folder that contains it (for -I).
 *
 * The part is taken from the first of these places that has it, and there in its newest version:
 *   1. the toolkit in the environment variable CF_CUDA_HOME,
 *   2. libraries that the process has loaded,
 *   3. NVIDIA's wheels in the Python environment of VIRTUAL_ENV, then in that of CONDA_PREFIX,
 *   4. the toolkit in CONDA_PREFIX,
 *   5. the dynamic linker's own search; for a header /usr/local/include and /usr/include,
 *   6. the toolkits in CUDA_HOME and CUDA_PATH,
 *   7. /usr/local/cuda, then the newest /usr/local/cuda-*.
 * The driver, libcuda, belongs to no toolkit: it is only searched for in places 2 and 5. A process with other rights
 * than its user's ignores the environment. The search loads nothing.
 *
 * The string belongs to the library and is valid until the calling thread's next cf_find(). Any thread may call the
 * function at any time. CF_EINVAL: no part has this name. CF_ENOTSUP: the part was not found; the detail lists the
 * paths that were tried. CF_ENOMEM: there is no memory for the search. */
CF_CHECKED int cf_find(const char *name, const char **path);

#ifdef __cplusplus
}
#endif
#endif
