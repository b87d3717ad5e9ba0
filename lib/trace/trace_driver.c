/* trace_driver.c - the driver table that notes what it is asked to do, and has the real one do it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/registry.h>

#include "trace/trace_driver.h"

#include "base/descriptor.h"
#include "base/log.h"
#include "driver/driver.h"
#include "trace/trace.h"
#include "trace/trace_device.h"

/* ---- Names of kernels: a driver has them of newer GPUs alone, and not as they are called ---- */

struct name {
    CUfunction function;
    struct name *next;
    char variant[CF__VARIANT]; /* of a tuned kernel; else empty */
    char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *names; /* the latest first: functions of images that are gone may come again */

void cf__trace_kernel(CUfunction function, const cf_kernel *kernel)
{
    if (!cf__traces())
        return;
    size_t size = strlen(kernel->function) + 1;
    struct name *name = malloc(sizeof *name + size);
    if (!name)
        return;
    name->function = function;
    memcpy(name->text, kernel->function, size);
    cf__variant_text(kernel, name->variant);
    cf__lock(&lock);
    name->next = names;
    names = name;
    cf__unlock(&lock);
}

void cf__trace_kernels_forget(void)
{
    cf__lock(&lock);
    for (struct name *name; (name = names) != NULL;) {
        names = name->next;
        free(name);
    }
    cf__unlock(&lock);
}

/* On the CPU a function is the kernel's descriptor. */
static const char *name_of(const struct cf__driver *driver, CUfunction function, char variant[CF__VARIANT])
{
    variant[0] = 0;
    if (driver->is_cpu) {
        const cf_kernel *kernel = (const cf_kernel *)(const void *)function;
        cf__variant_text(kernel, variant);
        return kernel->function;
    }
    cf__lock(&lock);
    const struct name *name = names;
    while (name && name->function != function)
        name = name->next;
    cf__unlock(&lock);
    if (name)
        memcpy(variant, name->variant, CF__VARIANT);
    return name ? name->text : "kernel";
}

/* ---- What is noted of a call ---- */

struct note {
    const struct cf__driver *driver;
    CUstream stream;
    struct cf__timed timed;
};

static void begin(struct note *note, const struct cf__driver *driver, CUstream stream)
{
    note->driver = driver;
    note->stream = stream;
    cf__timed_begin(&note->timed, driver, stream);
}

/* The CPU's driver does work before it returns: the span of the call is that of the work. */
static CUresult end(struct note *note, CUresult result, const char *host_category, const char *device_category,
                    const char *name, const char *args)
{
    char with[2 * CF__TRACE_ARGS], stream[32] = "default";
    if (note->stream && note->stream != CU_STREAM_LEGACY)
        snprintf(stream, sizeof stream, "%p", (void *)note->stream);
    int is_done = note->driver->is_cpu && !note->timed.is_captured;
    snprintf(with, sizeof with, "%s%s\"stream\": \"%s\"%s", args, *args ? ", " : "", stream,
             note->timed.is_captured ? ", \"captured\": true" : "");
    if (result != CUDA_SUCCESS)
        snprintf(with + strlen(with), sizeof with - strlen(with), ", \"result\": %u", result);
    cf__trace_end(note->timed.begin, is_done ? device_category : host_category, name, "%s", with);
    cf__timed_end(&note->timed, note->driver, result, note->stream, device_category, name, args);
    return result;
}

/* A call that returns when all is done. */
static CUresult end_plain(int64_t began, CUresult result, const char *category, const char *name, const char *args)
{
    cf__trace_end(began, category, name, result == CUDA_SUCCESS ? "%s" : "%s%s\"result\": %u", args, *args ? ", " : "",
                  result);
    return result;
}

/* ---- Launches ---- */

static void describe_launch(char *args, const unsigned int grid[3], const unsigned int block[3], unsigned int shared,
                            const char *variant)
{
    int used = snprintf(args, CF__TRACE_ARGS, "\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared\": %u",
                        grid[0], grid[1], grid[2], block[0], block[1], block[2], shared);
    if (*variant && (size_t)used + strlen(variant) + 16 < CF__TRACE_ARGS)
        snprintf(args + used, CF__TRACE_ARGS - (size_t)used, ", \"variant\": \"%s\"", variant);
}

static CUresult trace_cuLaunchKernel(const struct cf__driver *driver, CUfunction function, unsigned int grid_x,
                                     unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                     unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream,
                                     void **args, void **extra)
{
    struct note note;
    char what[CF__TRACE_ARGS], variant[CF__VARIANT];
    const char *name = name_of(driver, function, variant);
    describe_launch(what, (unsigned int[]){grid_x, grid_y, grid_z}, (unsigned int[]){block_x, block_y, block_z}, shared,
                    variant);
    begin(&note, driver, stream);
    CUresult result = driver->cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                                             stream, args, extra);
    return end(&note, result, "launch", "kernel", name, what);
}

static CUresult trace_cuLaunchCooperativeKernel(const struct cf__driver *driver, CUfunction function,
                                                unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                                unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                                unsigned int shared, CUstream stream, void **args)
{
    struct note note;
    char what[CF__TRACE_ARGS], variant[CF__VARIANT];
    const char *name = name_of(driver, function, variant);
    describe_launch(what, (unsigned int[]){grid_x, grid_y, grid_z}, (unsigned int[]){block_x, block_y, block_z}, shared,
                    variant);
    begin(&note, driver, stream);
    CUresult result = driver->cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                                        shared, stream, args);
    return end(&note, result, "launch", "kernel", name, what);
}

static CUresult trace_cuGraphLaunch(const struct cf__driver *driver, CUgraphExec exec, CUstream stream)
{
    struct note note;
    begin(&note, driver, stream);
    return end(&note, driver->cuGraphLaunch(exec, stream), "launch", "graph", "graph", "");
}

static CUresult trace_cuLaunchHostFunc(const struct cf__driver *driver, CUstream stream, void (*function)(void *data),
                                       void *data)
{
    struct note note;
    begin(&note, driver, stream);
    return end(&note, driver->cuLaunchHostFunc(stream, function, data), "launch", "function", "host function", "");
}

/* ---- Copies and fills ---- */

/* Whether memory is a GPU's. Managed memory counts, wherever it is. */
static int is_device(const struct cf__driver *driver, CUdeviceptr pointer)
{
    unsigned int type = 0;
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void *data = &type;
    return !driver->is_cpu && driver->cuPointerGetAttributes(1, &attribute, &data, pointer) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

static const char *direction(int from_device, int to_device)
{
    static const char *const directions[2][2] = {{"copy host to host", "copy host to device"},
                                                 {"copy device to host", "copy device to device"}};
    return directions[from_device][to_device];
}

static CUresult trace_cuMemcpy(const struct cf__driver *driver, CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    struct note note;
    char what[CF__TRACE_ARGS];
    const char *name = direction(is_device(driver, source), is_device(driver, target));
    snprintf(what, sizeof what, "\"bytes\": %zu", bytes);
    begin(&note, driver, NULL);
    return end(&note, driver->cuMemcpy(target, source, bytes), "copy", "copy", name, what);
}

static CUresult trace_cuMemcpyAsync(const struct cf__driver *driver, CUdeviceptr target, CUdeviceptr source,
                                    size_t bytes, CUstream stream)
{
    struct note note;
    char what[CF__TRACE_ARGS];
    const char *name = direction(is_device(driver, source), is_device(driver, target));
    snprintf(what, sizeof what, "\"bytes\": %zu", bytes);
    begin(&note, driver, stream);
    return end(&note, driver->cuMemcpyAsync(target, source, bytes, stream), "copy", "copy", name, what);
}

static const char *describe_2d(char *what, const CUDA_MEMCPY2D *copy)
{
    snprintf(what, CF__TRACE_ARGS, "\"bytes\": %zu, \"width\": %zu, \"rows\": %zu", copy->WidthInBytes * copy->Height,
             copy->WidthInBytes, copy->Height);
    return direction(copy->srcMemoryType != CU_MEMORYTYPE_HOST, copy->dstMemoryType != CU_MEMORYTYPE_HOST);
}

static CUresult trace_cuMemcpy2D(const struct cf__driver *driver, const CUDA_MEMCPY2D *copy)
{
    struct note note;
    char what[CF__TRACE_ARGS];
    const char *name = describe_2d(what, copy);
    begin(&note, driver, NULL);
    return end(&note, driver->cuMemcpy2D(copy), "copy", "copy", name, what);
}

static CUresult trace_cuMemcpy2DAsync(const struct cf__driver *driver, const CUDA_MEMCPY2D *copy, CUstream stream)
{
    struct note note;
    char what[CF__TRACE_ARGS];
    const char *name = describe_2d(what, copy);
    begin(&note, driver, stream);
    return end(&note, driver->cuMemcpy2DAsync(copy, stream), "copy", "copy", name, what);
}

static CUresult trace_cuMemcpyPeerAsync(const struct cf__driver *driver, CUdeviceptr target, CUcontext target_context,
                                        CUdeviceptr source, CUcontext source_context, size_t bytes, CUstream stream)
{
    struct note note;
    char what[CF__TRACE_ARGS];
    snprintf(what, sizeof what, "\"bytes\": %zu", bytes);
    begin(&note, driver, stream);
    CUresult result = driver->cuMemcpyPeerAsync(target, target_context, source, source_context, bytes, stream);
    return end(&note, result, "copy", "copy", "copy device to device", what);
}

static CUresult trace_cuMemsetD8Async(const struct cf__driver *driver, CUdeviceptr target, unsigned char value,
                                      size_t bytes, CUstream stream)
{
    struct note note;
    char what[CF__TRACE_ARGS];
    snprintf(what, sizeof what, "\"bytes\": %zu, \"value\": %u", bytes, value);
    begin(&note, driver, stream);
    return end(&note, driver->cuMemsetD8Async(target, value, bytes, stream), "fill", "fill", "fill", what);
}

/* ---- What waits, and what takes time on the calling thread ---- */

static CUresult trace_cuStreamSynchronize(const struct cf__driver *driver, CUstream stream)
{
    int64_t began = cf__trace_begin();
    CUresult result = driver->cuStreamSynchronize(stream);
    end_plain(began, result, "wait", "wait for a stream", "");
    cf__timed_collect(driver);
    return result;
}

static CUresult trace_cuEventSynchronize(const struct cf__driver *driver, CUevent event)
{
    int64_t began = cf__trace_begin();
    CUresult result = driver->cuEventSynchronize(event);
    end_plain(began, result, "wait", "wait for an event", "");
    cf__timed_collect(driver);
    return result;
}

static CUresult trace_cuCtxSynchronize(const struct cf__driver *driver)
{
    int64_t began = cf__trace_begin();
    CUresult result = driver->cuCtxSynchronize();
    end_plain(began, result, "wait", "wait for a device", "");
    cf__timed_collect(driver);
    return result;
}

static CUresult trace_cuMemAlloc(const struct cf__driver *driver, CUdeviceptr *pointer, size_t bytes)
{
    char what[CF__TRACE_ARGS];
    int64_t began = cf__trace_begin();
    CUresult result = driver->cuMemAlloc(pointer, bytes);
    snprintf(what, sizeof what, "\"bytes\": %zu", bytes);
    return end_plain(began, result, "memory", "allocate device memory", what);
}

static CUresult trace_cuMemFree(const struct cf__driver *driver, CUdeviceptr pointer)
{
    int64_t began = cf__trace_begin();
    return end_plain(began, driver->cuMemFree(pointer), "memory", "free device memory", "");
}

static CUresult trace_cuMemHostAlloc(const struct cf__driver *driver, void **pointer, size_t bytes, unsigned int flags)
{
    char what[CF__TRACE_ARGS];
    int64_t began = cf__trace_begin();
    CUresult result = driver->cuMemHostAlloc(pointer, bytes, flags);
    snprintf(what, sizeof what, "\"bytes\": %zu", bytes);
    return end_plain(began, result, "memory", "allocate pinned memory", what);
}

static CUresult trace_cuMemFreeHost(const struct cf__driver *driver, void *pointer)
{
    int64_t began = cf__trace_begin();
    return end_plain(began, driver->cuMemFreeHost(pointer), "memory", "free pinned memory", "");
}

static CUresult trace_cuGraphInstantiateWithFlags(const struct cf__driver *driver, CUgraphExec *exec, CUgraph graph,
                                                  unsigned long long flags)
{
    int64_t began = cf__trace_begin();
    return end_plain(began, driver->cuGraphInstantiateWithFlags(exec, graph, flags), "graph", "instantiate a graph",
                     "");
}

/* ---- What takes events away ---- */

static CUresult trace_cuStreamDestroy(const struct cf__driver *driver, CUstream stream)
{
    CUresult result = driver->cuStreamDestroy(stream);
    if (result == CUDA_SUCCESS)
        cf__timed_stream_gone(driver, stream);
    return result;
}

static CUresult trace_cuDevicePrimaryCtxReset(const struct cf__driver *driver, CUdevice device)
{
    CUresult result = driver->cuDevicePrimaryCtxReset(device);
    if (result == CUDA_SUCCESS)
        cf__timed_contexts_gone(driver);
    return result;
}

/* ---- The table ---- */

/* Name, parameters, and what the function above is called with. */
#define TRACED(X)                                                                                                      \
    X(cuLaunchKernel,                                                                                                  \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,       \
       unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **args, void **extra),   \
      (driver, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, args, extra))              \
    X(cuLaunchCooperativeKernel,                                                                                       \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,       \
       unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **args),                 \
      (driver, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, args))                     \
    X(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (driver, exec, stream))                                      \
    X(cuLaunchHostFunc, (CUstream stream, void (*function)(void *data), void *data), (driver, stream, function, data)) \
    X(cuMemcpy, (CUdeviceptr target, CUdeviceptr source, size_t bytes), (driver, target, source, bytes))               \
    X(cuMemcpyAsync, (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),                          \
      (driver, target, source, bytes, stream))                                                                         \
    X(cuMemcpy2D, (const CUDA_MEMCPY2D *copy), (driver, copy))                                                         \
    X(cuMemcpy2DAsync, (const CUDA_MEMCPY2D *copy, CUstream stream), (driver, copy, stream))                           \
    X(cuMemcpyPeerAsync,                                                                                               \
      (CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context, size_t bytes,       \
       CUstream stream),                                                                                               \
      (driver, target, target_context, source, source_context, bytes, stream))                                         \
    X(cuMemsetD8Async, (CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream),                       \
      (driver, target, value, bytes, stream))                                                                          \
    X(cuStreamSynchronize, (CUstream stream), (driver, stream))                                                        \
    X(cuEventSynchronize, (CUevent event), (driver, event))                                                            \
    X(cuCtxSynchronize, (void), (driver))                                                                              \
    X(cuMemAlloc, (CUdeviceptr * pointer, size_t bytes), (driver, pointer, bytes))                                     \
    X(cuMemFree, (CUdeviceptr pointer), (driver, pointer))                                                             \
    X(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned int flags), (driver, pointer, bytes, flags))             \
    X(cuMemFreeHost, (void *pointer), (driver, pointer))                                                               \
    X(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),                      \
      (driver, exec, graph, flags))                                                                                    \
    X(cuStreamDestroy, (CUstream stream), (driver, stream))                                                            \
    X(cuDevicePrimaryCtxReset, (CUdevice device), (driver, device))

/* One of each for the CPU, and one for GPUs: a table's functions are not told which table they are in. The trace may
 * have ended. */
static struct cf__driver of_host, of_cuda;             /* what is used */
static const struct cf__driver *real_host, *real_cuda; /* what it calls */

#define DEFINE(name, parameters, arguments)          \
    static CUresult host_##name parameters           \
    {                                                \
        const struct cf__driver *driver = real_host; \
        return trace_##name arguments;               \
    }                                                \
    static CUresult cuda_##name parameters           \
    {                                                \
        const struct cf__driver *driver = real_cuda; \
        return trace_##name arguments;               \
    }
TRACED(DEFINE)
#undef DEFINE

const struct cf__driver *cf__trace_wrap(const struct cf__driver *driver)
{
    if (!cf__traces())
        return driver;
    struct cf__driver *table = driver->is_cpu ? &of_host : &of_cuda;
    *(driver->is_cpu ? &real_host : &real_cuda) = driver;
    *table = *driver;
#define TAKE(name, parameters, arguments) table->name = driver->is_cpu ? host_##name : cuda_##name;
    TRACED(TAKE)
#undef TAKE
    return table;
}
