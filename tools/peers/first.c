/* first.c - computes one gather in a new process and prints the time since main() began, in nanoseconds.
 *
 * usage: peers-first bare|cuferry          with the driver API alone, or with the library
 *
 * Both do the same work with the same machine code: three allocations, two copies in, one launch, one wait. The result
 * is copied back and compared after the clock has stopped. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda.h>

#include <cuferry.h>
#include <cuferry/kernels.h>
#include <cuferry/registry.h>

#include "data/random.h"

enum { N = 1 << 16 };
static float source[N], res[N];
static int32_t indices[N];

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void fail(const char *call, const char *why)
{
    printf("%s: %s\n", call, why);
    exit(1);
}

/* ---- With the library ---- */

static void cf(int status, const char *call)
{
    if (status != CF_OK)
        fail(call, cf_last_error());
}
#define CF(call) cf(call, #call)

static int64_t by_library(void)
{
    void *s, *i, *r;
    int64_t begin = now();
    CF(cf_mem_alloc(&s, sizeof source));
    CF(cf_mem_alloc(&i, sizeof indices));
    CF(cf_mem_alloc(&r, sizeof res));
    CF(cf_mem_copy(s, source, sizeof source));
    CF(cf_mem_copy(i, indices, sizeof indices));
    CF(cf_gather_f32_i32_async(NULL, s, i, r, N, N));
    CF(cf_stream_sync(NULL));
    int64_t end = now();
    CF(cf_mem_copy(res, r, sizeof res));
    return end - begin;
}

/* ---- With the driver API, which is loaded at run time, as in programs that must start without a driver ---- */

static void *library;

static void *symbol(const char *name)
{
    void *function = dlsym(library, name);
    if (!function)
        fail("dlsym", name);
    return function;
}

static void cu(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS) {
        char text[24];
        snprintf(text, sizeof text, "CUresult %d", (int)result);
        fail(call, text);
    }
}
/* The header's macros add versions to the functions' names. */
#define NAME(function) #function
#define CU(function, ...)                          \
    do {                                           \
        __typeof__(&function) found;               \
        *(void **)&found = symbol(NAME(function)); \
        cu(found(__VA_ARGS__), #function);         \
    } while (0)

static int64_t bare(const cf_kernel *kernel)
{
    CUdevice device;
    CUcontext context;
    CUlibrary loaded;
    CUkernel handle;
    CUfunction function;
    CUdeviceptr s, i, r;
    int64_t n = N, m = N;
    void *args[] = {&s, &i, &r, &n, &m};
    int64_t begin = now();
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail("dlopen", dlerror());
    CU(cuInit, 0);
    CU(cuDeviceGet, &device, 0);
    CU(cuDevicePrimaryCtxRetain, &context, device);
    CU(cuCtxSetCurrent, context);
    CU(cuMemAlloc, &s, sizeof source);
    CU(cuMemAlloc, &i, sizeof indices);
    CU(cuMemAlloc, &r, sizeof res);
    CU(cuMemcpyHtoD, s, source, sizeof source);
    CU(cuMemcpyHtoD, i, indices, sizeof indices);
    CU(cuLibraryLoadData, &loaded, kernel->image->begin, NULL, NULL, 0, NULL, NULL, 0);
    CU(cuLibraryGetKernel, &handle, loaded, kernel->entry);
    CU(cuKernelGetFunction, &function, handle);
    CU(cuLaunchKernel, function, N / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL);
    CU(cuStreamSynchronize, NULL);
    int64_t end = now();
    CU(cuMemcpyDtoH, res, r, sizeof res);
    return end - begin;
}

int main(int argc, char **argv)
{
    const char *way = argc == 2 ? argv[1] : "";
    const int is_bare = strcmp(way, "bare") == 0;
    if (!is_bare && strcmp(way, "cuferry") != 0) {
        fputs("usage: peers-first bare|cuferry\n", stderr);
        return 1;
    }
    for (int i = 0; i < N; i++) {
        source[i] = random_f32(1, (uint64_t)i);
        indices[i] = (int32_t)random_integer(2, (uint64_t)i, 0, N);
    }
    memset(res, 0xA5, sizeof res);
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "gather_f32_i32");
    if (is_bare && !kernel->image)
        fail("the build", "it has no GPU code");
    int64_t time = is_bare ? bare(kernel) : by_library();
    for (int i = 0; i < N; i++)
        if (memcmp(&res[i], &source[indices[i]], sizeof *res) != 0)
            fail(way, "a wrong result");
    printf("%" PRId64 " ns\n", time);
    return 0;
}
