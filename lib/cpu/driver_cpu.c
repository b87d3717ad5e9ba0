/* driver_cpu.c - implements the driver table on the CPU, as one device with one context. Launches return when they are
 * complete, as the driver API allows. Memory, streams, events and graphs are in cpu_*.c. */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuferry/registry.h>

#include "cpu/driver_cpu.h"

#include "base/lock.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "cpu/cpu_capture.h"
#include "cpu/cpu_graph.h"
#include "cpu/cpu_launch.h"
#include "cpu/cpu_stream.h"

struct CUctx_st cf__cpu_context;
static int retained; /* reference count of the context; atomic */

static _Thread_local CUcontext current;
static _Thread_local CUcontext below[16]; /* stack of contexts below the current one */
static _Thread_local int pushed;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void cf__cpu_lock(void)
{
    cf__lock(&lock);
}

void cf__cpu_unlock(void)
{
    cf__unlock(&lock);
}

/* ---- Driver, device, context ---- */

CUresult cf__cpu_cuInit(unsigned int flags)
{
    (void)flags;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuDriverGetVersion(int *version)
{
    *version = CF__DRIVER_VERSION;
    return CUDA_SUCCESS;
}

static const struct {
    CUresult result;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

static CUresult find_error(CUresult result, const char **name, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result) {
            *name = errors[i].name;
            *text = errors[i].text;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cf__cpu_cuGetErrorName(CUresult result, const char **name)
{
    const char *text;
    return find_error(result, name, &text);
}

CUresult cf__cpu_cuGetErrorString(CUresult result, const char **text)
{
    const char *name;
    return find_error(result, &name, text);
}

CUresult cf__cpu_cuDeviceGetCount(int *count)
{
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = 0;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* Returns the value of a line that begins with `key`, or NULL for other lines. */
static char *find_value(char *line, const char *key)
{
    char *colon = strncmp(line, key, strlen(key)) == 0 ? strchr(line, ':') : NULL;
    if (!colon || colon[1] != ' ')
        return NULL;
    colon[2 + strcspn(colon + 2, "\n")] = 0;
    return colon + 2;
}

/* On x86, /proc/cpuinfo has a model name. On other processors, implementer and part number distinguish machines of
 * different speed. */
void cf__cpu_processor_name(FILE *info, char *name, size_t size)
{
    char line[256], implementer[16] = "";
    snprintf(name, size, "CPU");
    while (fgets(line, sizeof line, info)) {
        const char *model = find_value(line, "model name"), *maker = find_value(line, "CPU implementer");
        const char *part = find_value(line, "CPU part");
        if (maker)
            snprintf(implementer, sizeof implementer, "%s", maker);
        if (model)
            snprintf(name, size, "%s", model);
        else if (part)
            snprintf(name, size, "CPU %s, part %s", implementer, part);
        if (model || part)
            return;
    }
}

CUresult cf__cpu_cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return CUDA_SUCCESS;
    cf__cpu_processor_name(file, name, (size_t)size);
    fclose(file);
    return CUDA_SUCCESS;
}

/* The library calls this only for GPUs. */
CUresult cf__cpu_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    (void)uuid, (void)device;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* The library reads other attributes only of GPUs. */
CUresult cf__cpu_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    long cache;
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = cf__pool_size();
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = CF_BLOCK_SIZE; /* same limit as on GPUs, because the same kernels run there */
        break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *value = 32;
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
        *value = cache > 0 && cache < INT_MAX ? (int)cache : 0;
        break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        *value = 1;
        break;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
        *value = 0;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *context = &cf__cpu_context;
    __atomic_add_fetch(&retained, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuDevicePrimaryCtxRelease(CUdevice device)
{
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    __atomic_sub_fetch(&retained, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = __atomic_load_n(&retained, __ATOMIC_RELAXED) > 0;
    return CUDA_SUCCESS;
}

/* The CPU has no peers, because its driver has one device and one context. */
CUresult cf__cpu_cuDeviceCanAccessPeer(int *possible, CUdevice device, CUdevice peer)
{
    *possible = 0;
    return device == 0 && peer == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cf__cpu_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    (void)peer;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cf__cpu_cuCtxDisablePeerAccess(CUcontext peer)
{
    (void)peer;
    return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cf__cpu_cuCtxGetCurrent(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuCtxPushCurrent(CUcontext context)
{
    if (context != &cf__cpu_context || pushed == (int)(sizeof below / sizeof *below))
        return CUDA_ERROR_INVALID_CONTEXT;
    below[pushed++] = current;
    current = context;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuCtxPopCurrent(CUcontext *context)
{
    if (pushed == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = current;
    current = below[--pushed];
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

/* The CUDA driver numbers its contexts from a small number upwards. */
CUresult cf__cpu_cuCtxGetId(CUcontext context, unsigned long long *id)
{
    (void)context;
    *id = UINT64_MAX;
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuCtxSynchronize(void)
{
    return CUDA_SUCCESS;
}

/* ---- Kernels ---- */

/* The CPU loads no images; the function handle is the kernel's descriptor. */
CUresult cf__cpu_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit_options, void **jit_values,
                                   unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count)
{
    (void)library, (void)code, (void)jit_options, (void)jit_values, (void)jit_count;
    (void)options, (void)values, (void)count;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cf__cpu_cuLibraryUnload(CUlibrary library)
{
    (void)library;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cf__cpu_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    (void)module, (void)library;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cf__cpu_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    (void)kernel, (void)library, (void)name;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cf__cpu_cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUlibrary library, const char *name)
{
    (void)pointer, (void)bytes, (void)library, (void)name;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cf__cpu_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
    (void)kernel, (void)index, (void)offset, (void)size;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cf__cpu_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    (void)function, (void)kernel;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* The CPU does not limit dynamic shared memory. */
CUresult cf__cpu_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    (void)function;
    *value = INT_MAX;
    return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cf__cpu_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function, (void)value;
    return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Suggests 256, which is also the block size of kernels that declare none. Any size is good for a block that runs as a
 * loop. */
CUresult cf__cpu_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                                  size_t (*shared_of)(int block), size_t shared, int limit)
{
    (void)function, (void)shared_of, (void)shared, (void)limit;
    *grid = 1;
    *block = 256;
    return CUDA_SUCCESS;
}

/* Each CPU thread runs one block at a time. */
CUresult cf__cpu_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                             size_t shared)
{
    (void)function, (void)shared;
    *blocks = 1;
    return threads > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A launch in a graph, with a copy of its arguments. */
struct launch_node {
    struct cf__cpu_node node;
    const cf_kernel *kernel;
    cf_host_launch request;
    void *args[];
};

static CUresult run_launch(struct cf__cpu_node *node)
{
    const struct launch_node *launch = (const struct launch_node *)node;
    return cf__cpu_run(launch->kernel, &launch->request, 0);
}

static size_t get_param_size(const cf_param *param)
{
    return param->direction == CF_VALUE ? param->bytes : sizeof(void *);
}

/* Bytes reserved for an argument's value, which may need an alignment of 16 bytes. */
#define VALUE_ROOM(bytes) (((bytes) + 15) / 16 * 16)

/* The caller holds the lock. */
static void copy_launch(struct cf__cpu_node *node)
{
    struct launch_node *launch = (struct launch_node *)node;
    const char *values = launch->kernel->nparams ? launch->args[0] : NULL; /* argument values of the original node */
    char *first = (char *)launch + VALUE_ROOM(sizeof *launch + launch->kernel->nparams * sizeof(void *));
    for (uint32_t i = 0; i < launch->kernel->nparams; i++)
        launch->args[i] = first + ((const char *)launch->args[i] - values);
    launch->request.args = launch->args;
}

static CUresult capture_launch(struct cf__cpu_handle *stream, const cf_kernel *kernel, const cf_host_launch *request)
{
    size_t first_value = VALUE_ROOM(sizeof(struct launch_node) + kernel->nparams * sizeof(void *)), bytes = first_value;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        bytes += VALUE_ROOM(get_param_size(&kernel->params[i]));
    struct launch_node *launch = malloc(bytes);
    if (!launch)
        return cf__cpu_capture_add(stream, NULL);
    *launch = (struct launch_node){{.size = bytes, .run = run_launch, .copied = copy_launch}, kernel, *request};
    launch->request.args = launch->args;
    char *value = (char *)launch + first_value;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        launch->args[i] = memcpy(value, request->args[i], get_param_size(&kernel->params[i]));
        value += VALUE_ROOM(get_param_size(&kernel->params[i]));
    }
    return cf__cpu_capture_add(stream, &launch->node);
}

static inline CUresult launch_kernel(CUfunction function, CUstream stream, const cf_host_launch *request)
{
    struct cf__cpu_handle *slot;
    CUresult result = cf__cpu_stream_find(stream, &slot);
    if (result != CUDA_SUCCESS)
        return result;
    const cf_kernel *kernel = (const cf_kernel *)(const void *)function;
    if (cf__cpu_is_captured(slot))
        return capture_launch(slot, kernel, request);
    return cf__cpu_run(kernel, request, 0);
}

CUresult cf__cpu_cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                                CUstream stream, void **args, void **extra)
{
    const cf_host_launch request = {
        .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .args = args, .shared = shared};
    (void)extra;
    return launch_kernel(function, stream, &request);
}

/* Attributes have no effect here: launches complete in their order, and the cluster size is in the kernel's
 * descriptor. */
CUresult cf__cpu_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **args, void **extra)
{
    const cf_host_launch request = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                    .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                    .args = args,
                                    .shared = config->sharedMemBytes};
    (void)extra;
    return launch_kernel(function, config->hStream, &request);
}

CUresult cf__cpu_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    const struct launch_node *launch = (const struct launch_node *)(const void *)node;
    cf__cpu_lock();
    int is_launch = cf__cpu_handle_has_node(&launch->node) && launch->node.run == run_launch;
    if (is_launch)
        *params = (CUDA_KERNEL_NODE_PARAMS_v2){
            .func = (CUfunction)(void *)(uintptr_t)launch->kernel,
            .gridDimX = launch->request.grid.x,
            .gridDimY = launch->request.grid.y,
            .gridDimZ = launch->request.grid.z,
            .blockDimX = launch->request.block.x,
            .blockDimY = launch->request.block.y,
            .blockDimZ = launch->request.block.z,
            .sharedMemBytes = launch->request.shared,
        };
    cf__cpu_unlock();
    return is_launch ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_params(struct cf__cpu_node *node, const void *data)
{
    struct launch_node *launch = (struct launch_node *)node;
    const CUDA_KERNEL_NODE_PARAMS_v2 *params = data;
    if (node->run != run_launch || params->func != (CUfunction)(void *)(uintptr_t)launch->kernel)
        return CUDA_ERROR_INVALID_VALUE;
    launch->request.grid = (cf_dim3){params->gridDimX, params->gridDimY, params->gridDimZ};
    launch->request.block = (cf_dim3){params->blockDimX, params->blockDimY, params->blockDimZ};
    launch->request.shared = params->sharedMemBytes;
    for (uint32_t i = 0; i < launch->kernel->nparams; i++)
        memcpy(launch->args[i], params->kernelParams[i], get_param_size(&launch->kernel->params[i]));
    return CUDA_SUCCESS;
}

CUresult cf__cpu_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    return cf__cpu_graph_change(exec, (const struct cf__cpu_node *)(const void *)node, set_params, params);
}

/* ---- The table ---- */

#define TABLE_ENTRY(name, version, parameters, names) .name = cf__cpu_##name,
const struct cf__driver cf__driver_cpu = {.is_cpu = 1, CF__DRIVER_FUNCS(TABLE_ENTRY)};
#undef TABLE_ENTRY
