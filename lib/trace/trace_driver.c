/* trace_driver.c - a driver table that records each call in the trace and forwards it to the real driver. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/registry.h>

#include "trace/trace_driver.h"

#include "base/lock.h"
#include "model/descriptor.h"
#include "driver/driver.h"
#include "trace/trace.h"
#include "trace/trace_device.h"

/* ---- Names of kernels, because drivers know at most the names in the images ---- */

struct name {
    CUfunction function;
    struct name *next;
    char variant[CF__VARIANT]; /* constants of a tuned kernel's variant, or empty */
    char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock for names */
static struct name *names; /* list, latest first, because the driver may reuse the function handle of an unloaded
                            * image */

void cf__trace_note_kernel(CUfunction function, const cf_kernel *kernel)
{
    if (!cf__trace_is_on())
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

void cf__trace_forget_kernels(void)
{
    cf__lock(&lock);
    for (struct name *name; (name = names) != NULL;) {
        names = name->next;
        free(name);
    }
    cf__unlock(&lock);
}

/* Returns a kernel's name and writes its variant. On the CPU, the function handle is the kernel's descriptor. */
static const char *find_name(const struct cf__driver *driver, CUfunction function, char variant[CF__VARIANT])
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

/* ---- Records of calls ---- */

struct record {
    const struct cf__driver *driver;
    CUstream stream;
    struct cf__trace_device_span span;
};

static void begin_record(struct record *record, const struct cf__driver *driver, CUstream stream)
{
    record->driver = driver;
    record->stream = stream;
    cf__trace_device_begin(&record->span, driver, stream);
}

/* Ends the record of a call that enqueues work. The CPU driver finishes the work before it returns, so there the span
 * of the call gets the category of the work. */
static CUresult end_record(struct record *record, CUresult result, const char *host_category,
                           const char *device_category, const char *name, const char *args)
{
    char with[2 * CF__TRACE_ARGS], stream[32] = "default";
    if (record->stream && record->stream != CU_STREAM_LEGACY)
        snprintf(stream, sizeof stream, "%p", (void *)record->stream);
    int is_done = record->driver->is_cpu && !record->span.is_captured;
    snprintf(with, sizeof with, "%s%s\"stream\": \"%s\"%s", args, *args ? ", " : "", stream,
             record->span.is_captured ? ", \"captured\": true" : "");
    if (result != CUDA_SUCCESS)
        snprintf(with + strlen(with), sizeof with - strlen(with), ", \"result\": %u", result);
    cf__trace_span_end(record->span.begin, is_done ? device_category : host_category, name, "%s", with);
    cf__trace_device_end(&record->span, record->driver, result, record->stream, device_category, name, args);
    return result;
}

/* Ends the record of a call that enqueues no work. */
static CUresult end_simple_record(int64_t began, CUresult result, const char *category, const char *name,
                                  const char *args)
{
    cf__trace_span_end(began, category, name, result == CUDA_SUCCESS ? "%s" : "%s%s\"result\": %u", args,
                       *args ? ", " : "", result);
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
    struct record record;
    char details[CF__TRACE_ARGS], variant[CF__VARIANT];
    const char *name = find_name(driver, function, variant);
    describe_launch(details, (unsigned int[]){grid_x, grid_y, grid_z}, (unsigned int[]){block_x, block_y, block_z},
                    shared, variant);
    begin_record(&record, driver, stream);
    CUresult result = driver->cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                                             stream, args, extra);
    return end_record(&record, result, "launch", "kernel", name, details);
}

static CUresult trace_cuLaunchKernelEx(const struct cf__driver *driver, const CUlaunchConfig *config,
                                       CUfunction function, void **args, void **extra)
{
    struct record record;
    char details[CF__TRACE_ARGS], variant[CF__VARIANT];
    const char *name = find_name(driver, function, variant);
    describe_launch(details, (unsigned int[]){config->gridDimX, config->gridDimY, config->gridDimZ},
                    (unsigned int[]){config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                    variant);
    begin_record(&record, driver, config->hStream);
    return end_record(&record, driver->cuLaunchKernelEx(config, function, args, extra), "launch", "kernel", name,
                      details);
}

static CUresult trace_cuGraphLaunch(const struct cf__driver *driver, CUgraphExec exec, CUstream stream)
{
    struct record record;
    begin_record(&record, driver, stream);
    return end_record(&record, driver->cuGraphLaunch(exec, stream), "launch", "graph", "graph", "");
}

static CUresult trace_cuLaunchHostFunc(const struct cf__driver *driver, CUstream stream, void (*function)(void *data),
                                       void *data)
{
    struct record record;
    begin_record(&record, driver, stream);
    return end_record(&record, driver->cuLaunchHostFunc(stream, function, data), "launch", "function", "host function",
                      "");
}

/* ---- Copies and fills ---- */

/* Returns 1 for memory of a GPU, and for managed memory wherever it currently is. */
static int is_device(const struct cf__driver *driver, CUdeviceptr pointer)
{
    unsigned int type = 0;
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void *data = &type;
    return !driver->is_cpu && driver->cuPointerGetAttributes(1, &attribute, &data, pointer) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

static const char *describe_direction(int from_device, int to_device)
{
    static const char *const directions[2][2] = {{"copy host to host", "copy host to device"},
                                                 {"copy device to host", "copy device to device"}};
    return directions[from_device][to_device];
}

static CUresult trace_cuMemcpy(const struct cf__driver *driver, CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    struct record record;
    char details[CF__TRACE_ARGS];
    const char *name = describe_direction(is_device(driver, source), is_device(driver, target));
    snprintf(details, sizeof details, "\"bytes\": %zu", bytes);
    begin_record(&record, driver, NULL);
    return end_record(&record, driver->cuMemcpy(target, source, bytes), "copy", "copy", name, details);
}

static CUresult trace_cuMemcpyAsync(const struct cf__driver *driver, CUdeviceptr target, CUdeviceptr source,
                                    size_t bytes, CUstream stream)
{
    struct record record;
    char details[CF__TRACE_ARGS];
    const char *name = describe_direction(is_device(driver, source), is_device(driver, target));
    snprintf(details, sizeof details, "\"bytes\": %zu", bytes);
    begin_record(&record, driver, stream);
    return end_record(&record, driver->cuMemcpyAsync(target, source, bytes, stream), "copy", "copy", name, details);
}

static const char *describe_rows(char *args, const CUDA_MEMCPY2D *copy)
{
    snprintf(args, CF__TRACE_ARGS, "\"bytes\": %zu, \"width\": %zu, \"rows\": %zu", copy->WidthInBytes * copy->Height,
             copy->WidthInBytes, copy->Height);
    return describe_direction(copy->srcMemoryType != CU_MEMORYTYPE_HOST, copy->dstMemoryType != CU_MEMORYTYPE_HOST);
}

static CUresult trace_cuMemcpy2D(const struct cf__driver *driver, const CUDA_MEMCPY2D *copy)
{
    struct record record;
    char details[CF__TRACE_ARGS];
    const char *name = describe_rows(details, copy);
    begin_record(&record, driver, NULL);
    return end_record(&record, driver->cuMemcpy2D(copy), "copy", "copy", name, details);
}

static CUresult trace_cuMemcpy2DAsync(const struct cf__driver *driver, const CUDA_MEMCPY2D *copy, CUstream stream)
{
    struct record record;
    char details[CF__TRACE_ARGS];
    const char *name = describe_rows(details, copy);
    begin_record(&record, driver, stream);
    return end_record(&record, driver->cuMemcpy2DAsync(copy, stream), "copy", "copy", name, details);
}

static CUresult trace_cuMemcpyPeerAsync(const struct cf__driver *driver, CUdeviceptr target, CUcontext target_context,
                                        CUdeviceptr source, CUcontext source_context, size_t bytes, CUstream stream)
{
    struct record record;
    char details[CF__TRACE_ARGS];
    snprintf(details, sizeof details, "\"bytes\": %zu", bytes);
    begin_record(&record, driver, stream);
    CUresult result = driver->cuMemcpyPeerAsync(target, target_context, source, source_context, bytes, stream);
    return end_record(&record, result, "copy", "copy", "copy device to device", details);
}

static CUresult trace_cuMemsetD8Async(const struct cf__driver *driver, CUdeviceptr target, unsigned char value,
                                      size_t bytes, CUstream stream)
{
    struct record record;
    char details[CF__TRACE_ARGS];
    snprintf(details, sizeof details, "\"bytes\": %zu, \"value\": %u", bytes, value);
    begin_record(&record, driver, stream);
    return end_record(&record, driver->cuMemsetD8Async(target, value, bytes, stream), "fill", "fill", "fill", details);
}

/* ---- Waits, and other calls that take long ---- */

static CUresult trace_cuStreamSynchronize(const struct cf__driver *driver, CUstream stream)
{
    int64_t began = cf__trace_span_begin();
    CUresult result = driver->cuStreamSynchronize(stream);
    end_simple_record(began, result, "wait", "wait for a stream", "");
    cf__trace_device_collect(driver);
    return result;
}

static CUresult trace_cuEventSynchronize(const struct cf__driver *driver, CUevent event)
{
    int64_t began = cf__trace_span_begin();
    CUresult result = driver->cuEventSynchronize(event);
    end_simple_record(began, result, "wait", "wait for an event", "");
    cf__trace_device_collect(driver);
    return result;
}

static CUresult trace_cuCtxSynchronize(const struct cf__driver *driver)
{
    int64_t began = cf__trace_span_begin();
    CUresult result = driver->cuCtxSynchronize();
    end_simple_record(began, result, "wait", "wait for a device", "");
    cf__trace_device_collect(driver);
    return result;
}

static CUresult trace_cuMemAlloc(const struct cf__driver *driver, CUdeviceptr *pointer, size_t bytes)
{
    char details[CF__TRACE_ARGS];
    int64_t began = cf__trace_span_begin();
    CUresult result = driver->cuMemAlloc(pointer, bytes);
    snprintf(details, sizeof details, "\"bytes\": %zu", bytes);
    return end_simple_record(began, result, "memory", "allocate device memory", details);
}

static CUresult trace_cuMemFree(const struct cf__driver *driver, CUdeviceptr pointer)
{
    int64_t began = cf__trace_span_begin();
    return end_simple_record(began, driver->cuMemFree(pointer), "memory", "free device memory", "");
}

static CUresult trace_cuMemHostAlloc(const struct cf__driver *driver, void **pointer, size_t bytes, unsigned int flags)
{
    char details[CF__TRACE_ARGS];
    int64_t began = cf__trace_span_begin();
    CUresult result = driver->cuMemHostAlloc(pointer, bytes, flags);
    snprintf(details, sizeof details, "\"bytes\": %zu", bytes);
    return end_simple_record(began, result, "memory", "allocate pinned memory", details);
}

static CUresult trace_cuMemFreeHost(const struct cf__driver *driver, void *pointer)
{
    int64_t began = cf__trace_span_begin();
    return end_simple_record(began, driver->cuMemFreeHost(pointer), "memory", "free pinned memory", "");
}

static CUresult trace_cuGraphInstantiateWithFlags(const struct cf__driver *driver, CUgraphExec *exec, CUgraph graph,
                                                  unsigned long long flags)
{
    int64_t began = cf__trace_span_begin();
    return end_simple_record(began, driver->cuGraphInstantiateWithFlags(exec, graph, flags), "graph",
                             "instantiate a graph", "");
}

/* ---- Ends of streams and contexts ---- */

static CUresult trace_cuStreamDestroy(const struct cf__driver *driver, CUstream stream)
{
    CUresult result = driver->cuStreamDestroy(stream);
    if (result == CUDA_SUCCESS)
        cf__trace_device_stream_destroyed(driver, stream);
    return result;
}

static CUresult trace_cuDevicePrimaryCtxReset(const struct cf__driver *driver, CUdevice device)
{
    CUresult result = driver->cuDevicePrimaryCtxReset(device);
    if (result == CUDA_SUCCESS)
        cf__trace_device_contexts_destroyed(driver);
    return result;
}

/* ---- The table ---- */

/* Lists the traced functions. Each entry has a name, parameters, and arguments. */
#define TRACED(X)                                                                                                      \
    X(cuLaunchKernel,                                                                                                  \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,       \
       unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **args, void **extra),   \
      (driver, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, args, extra))              \
    X(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **args, void **extra),                \
      (driver, config, function, args, extra))                                                                         \
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

/* The traced tables. The CPU and the GPUs have separate functions, because a function does not know through which table
 * it was called. The functions stay in use after the end of the trace. */
static struct cf__driver traced_cpu, traced_cuda;
static const struct cf__driver *real_cpu, *real_cuda;

#define DEFINE(name, parameters, arguments)          \
    static CUresult cpu_##name parameters            \
    {                                                \
        const struct cf__driver *driver = real_cpu;  \
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
    if (!cf__trace_is_on())
        return driver;
    struct cf__driver *table = driver->is_cpu ? &traced_cpu : &traced_cuda;
    *(driver->is_cpu ? &real_cpu : &real_cuda) = driver;
    *table = *driver;
#define SET(name, parameters, arguments) table->name = driver->is_cpu ? cpu_##name : cuda_##name;
    TRACED(SET)
#undef SET
    return table;
}
