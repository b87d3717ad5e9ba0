/* driver_host.c - fills the driver table with the CPU: one device, aligned memory, launches that return when they are
 * done (the driver API allows that), events that are clock readings. */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "internal.h"

#define ALIGNMENT 256

/* The only context; its address is what counts. */
struct CUctx_st {
    int unused;
};
static struct CUctx_st host_context;

static _Thread_local CUcontext current;
static _Thread_local CUcontext below[16]; /* stack of pushed contexts */
static _Thread_local int pushed;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of memory and handles */

/* ---- Driver, device, context ---- */

static CUresult init(unsigned int flags)
{
    (void)flags;
    return CUDA_SUCCESS;
}

static CUresult driver_version(int *version)
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
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

static CUresult error_name(CUresult result, const char **name)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result) {
            *name = errors[i].name;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult error_text(CUresult result, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result) {
            *text = errors[i].text;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult device_count(int *count)
{
    *count = 1;
    return CUDA_SUCCESS;
}

static CUresult device_get(CUdevice *device, int ordinal)
{
    *device = 0;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult device_name(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return CUDA_SUCCESS;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon && colon[1] == ' ') {
            snprintf(name, (size_t)size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    fclose(file);
    return CUDA_SUCCESS;
}

/* What the library asks of GPUs alone. */
static CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)value, (void)attribute, (void)device;
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult primary_retain(CUcontext *context, CUdevice device)
{
    (void)device;
    *context = &host_context;
    return CUDA_SUCCESS;
}

static CUresult primary_release(CUdevice device)
{
    (void)device;
    return CUDA_SUCCESS;
}

static CUresult context_current(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

static CUresult context_push(CUcontext context)
{
    if (context != &host_context || pushed == (int)(sizeof below / sizeof *below))
        return CUDA_ERROR_INVALID_CONTEXT;
    below[pushed++] = current;
    current = context;
    return CUDA_SUCCESS;
}

static CUresult context_pop(CUcontext *context)
{
    if (pushed == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = current;
    current = below[--pushed];
    return CUDA_SUCCESS;
}

static CUresult context_device(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

/* Far from those of GPU contexts, which the driver counts up. */
static CUresult context_id(CUcontext context, unsigned long long *id)
{
    (void)context;
    *id = UINT64_MAX;
    return CUDA_SUCCESS;
}

static CUresult context_synchronize(void)
{
    return CUDA_SUCCESS;
}

/* ---- Memory ---- */

struct allocation {
    char *begin;
    size_t size;
};
static struct allocation *allocations; /* sorted by address */
static size_t allocation_count, allocation_room;

/* With the lock: the number of allocations that begin at or below `pointer`. */
static size_t allocations_up_to(const char *pointer)
{
    size_t low = 0, high = allocation_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)allocations[middle].begin <= (uintptr_t)pointer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static CUresult mem_alloc(CUdeviceptr *pointer, size_t bytes)
{
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    void *memory = NULL;
    if (bytes > PTRDIFF_MAX || posix_memalign(&memory, ALIGNMENT, bytes) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    if (allocation_count == allocation_room) {
        size_t room = allocation_room ? 2 * allocation_room : 64;
        struct allocation *larger = realloc(allocations, room * sizeof *larger);
        if (!larger) {
            pthread_mutex_unlock(&lock);
            free(memory);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        allocations = larger;
        allocation_room = room;
    }
    size_t at = allocations_up_to(memory);
    memmove(allocations + at + 1, allocations + at, (allocation_count - at) * sizeof *allocations);
    allocations[at] = (struct allocation){memory, bytes};
    allocation_count++;
    pthread_mutex_unlock(&lock);
    *pointer = (uintptr_t)memory;
    return CUDA_SUCCESS;
}

static CUresult mem_free(CUdeviceptr pointer)
{
    char *memory = (char *)(uintptr_t)pointer;
    pthread_mutex_lock(&lock);
    size_t at = allocations_up_to(memory);
    if (at == 0 || allocations[at - 1].begin != memory) {
        pthread_mutex_unlock(&lock);
        return CUDA_ERROR_INVALID_VALUE;
    }
    memmove(allocations + at - 1, allocations + at, (allocation_count - at) * sizeof *allocations);
    allocation_count--;
    pthread_mutex_unlock(&lock);
    free(memory);
    return CUDA_SUCCESS;
}

static CUresult mem_copy(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    memcpy((void *)(uintptr_t)target, (const void *)(uintptr_t)source, bytes);
    return CUDA_SUCCESS;
}

static CUresult mem_alloc_async(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    (void)stream;
    return mem_alloc(pointer, bytes);
}

static CUresult mem_free_async(CUdeviceptr pointer, CUstream stream)
{
    (void)stream;
    return mem_free(pointer);
}

/* Whatever the types of the sides, their memory is the CPU's. */
static CUresult mem_copy_2d(const CUDA_MEMCPY2D *copy)
{
    const char *source =
        copy->srcMemoryType == CU_MEMORYTYPE_HOST ? copy->srcHost : (const char *)(uintptr_t)copy->srcDevice;
    char *target = copy->dstMemoryType == CU_MEMORYTYPE_HOST ? copy->dstHost : (char *)(uintptr_t)copy->dstDevice;
    if (copy->WidthInBytes > copy->srcPitch || copy->WidthInBytes > copy->dstPitch)
        return CUDA_ERROR_INVALID_VALUE;
    source += copy->srcY * copy->srcPitch + copy->srcXInBytes;
    target += copy->dstY * copy->dstPitch + copy->dstXInBytes;
    for (size_t row = 0; row < copy->Height; row++)
        memcpy(target + row * copy->dstPitch, source + row * copy->srcPitch, copy->WidthInBytes);
    return CUDA_SUCCESS;
}

static CUresult mem_copy_async(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream)
{
    (void)stream;
    return mem_copy(target, source, bytes);
}

static CUresult mem_fill_async(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream)
{
    (void)stream;
    memset((void *)(uintptr_t)target, value, bytes);
    return CUDA_SUCCESS;
}

/* As the driver does, gives zeros for a pointer that it does not know. */
static CUresult pointer_attributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                   CUdeviceptr pointer)
{
    struct allocation known = {NULL, 0};
    const char *address = (const char *)(uintptr_t)pointer;
    pthread_mutex_lock(&lock);
    size_t at = allocations_up_to(address);
    if (at && (size_t)(address - allocations[at - 1].begin) < allocations[at - 1].size)
        known = allocations[at - 1];
    pthread_mutex_unlock(&lock);
    for (unsigned int i = 0; i < count; i++)
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            *(CUcontext *)data[i] = known.begin ? &host_context : NULL;
            break;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned int *)data[i] = known.begin ? CU_MEMORYTYPE_HOST : 0;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            *(CUdeviceptr *)data[i] = known.begin ? pointer : 0;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *(int *)data[i] = 0;
            break;
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            *(CUdeviceptr *)data[i] = (uintptr_t)known.begin;
            break;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            *(size_t *)data[i] = known.size;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
    return CUDA_SUCCESS;
}

/* ---- Streams and events ---- */

/* Handles are addresses of slots in one reserved range, which tells them from the GPU driver's. */
#define HANDLE_RANGE ((size_t)16 << 20)

enum handle_kind { FREE, STREAM, EVENT };

struct handle {
    enum handle_kind kind;
    struct handle *next_free;
    int64_t time; /* events: nanoseconds; 0 until recorded */
};

static char *range; /* NULL until the first handle; read without the lock */
static struct handle *free_handles, *fresh_handle;

int cf__host_owns(const void *handle)
{
    const char *begin = __atomic_load_n(&range, __ATOMIC_ACQUIRE);
    return begin && (uintptr_t)handle - (uintptr_t)begin < HANDLE_RANGE;
}

static CUresult handle_create(enum handle_kind kind, struct handle **handle)
{
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    if (!range) {
        void *memory =
            mmap(NULL, HANDLE_RANGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory != MAP_FAILED) {
            fresh_handle = memory;
            __atomic_store_n(&range, (char *)memory, __ATOMIC_RELEASE);
        }
    }
    struct handle *slot = free_handles;
    if (slot)
        free_handles = slot->next_free;
    else if (range && (char *)(fresh_handle + 1) <= range + HANDLE_RANGE)
        slot = fresh_handle++;
    if (slot) {
        *slot = (struct handle){.kind = kind};
        *handle = slot;
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Whether `handle` is a live one of its kind. */
static int is_live(const void *handle, enum handle_kind kind)
{
    return cf__host_owns(handle) && (uintptr_t)handle % _Alignof(struct handle) == 0 &&
           ((uintptr_t)handle - (uintptr_t)range) % sizeof(struct handle) == 0 &&
           ((const struct handle *)handle)->kind == kind;
}

static CUresult handle_destroy(void *handle, enum handle_kind kind)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&lock);
    if (is_live(handle, kind)) {
        struct handle *slot = handle;
        slot->kind = FREE;
        slot->next_free = free_handles;
        free_handles = slot;
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult stream_create(CUstream *stream, unsigned int flags)
{
    (void)flags;
    struct handle *handle;
    CUresult result = handle_create(STREAM, &handle);
    if (result == CUDA_SUCCESS)
        *stream = (CUstream)(void *)handle;
    return result;
}

static CUresult stream_destroy(CUstream stream)
{
    return handle_destroy(stream, STREAM);
}

/* The default streams count as live too. */
static CUresult stream_check(CUstream stream)
{
    int is_default = !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
    return is_default || is_live(stream, STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult stream_wait_event(CUstream stream, CUevent event, unsigned int flags)
{
    (void)flags;
    return is_live(event, EVENT) ? stream_check(stream) : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult stream_context(CUstream stream, CUcontext *context)
{
    *context = &host_context;
    return stream_check(stream);
}

static CUresult capture_mode(CUstreamCaptureMode *mode)
{
    (void)mode;
    return CUDA_SUCCESS;
}

static CUresult event_create(CUevent *event, unsigned int flags)
{
    (void)flags;
    struct handle *handle;
    CUresult result = handle_create(EVENT, &handle);
    if (result == CUDA_SUCCESS)
        *event = (CUevent)(void *)handle;
    return result;
}

static CUresult event_destroy(CUevent event)
{
    return handle_destroy(event, EVENT);
}

static CUresult event_record(CUevent event, CUstream stream)
{
    if (!is_live(event, EVENT) || stream_check(stream) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_HANDLE;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    __atomic_store_n(&((struct handle *)(void *)event)->time, time ? time : 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

static CUresult event_check(CUevent event)
{
    return is_live(event, EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult event_elapsed(float *milliseconds, CUevent start, CUevent stop)
{
    if (!is_live(start, EVENT) || !is_live(stop, EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    int64_t from = __atomic_load_n(&((struct handle *)(void *)start)->time, __ATOMIC_RELAXED);
    int64_t to = __atomic_load_n(&((struct handle *)(void *)stop)->time, __ATOMIC_RELAXED);
    if (!from || !to)
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(to - from) / 1e6);
    return CUDA_SUCCESS;
}

/* ---- Kernels ---- */

/* There are no images: a function is a kernel's descriptor. */
static CUresult library_load(CUlibrary *library, const void *code, CUjit_option *jit_options, void **jit_values,
                             unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count)
{
    (void)library, (void)code, (void)jit_options, (void)jit_values, (void)jit_count;
    (void)options, (void)values, (void)count;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult library_unload(CUlibrary library)
{
    (void)library;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult library_kernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    (void)kernel, (void)library, (void)name;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult library_global(CUdeviceptr *pointer, size_t *bytes, CUlibrary library, const char *name)
{
    (void)pointer, (void)bytes, (void)library, (void)name;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult kernel_function(CUfunction *function, CUkernel kernel)
{
    (void)function, (void)kernel;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Dynamic shared memory is a matter of GPU code: a launch may ask for any size. */
static CUresult function_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    (void)function;
    *value = INT_MAX;
    return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult function_set_attribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function, (void)value;
    return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A block is a loop here; this one is what kernels have that declare none. */
static CUresult best_block(int *grid, int *block, CUfunction function, size_t (*shared_of)(int block), size_t shared,
                           int limit)
{
    (void)function, (void)shared_of, (void)shared, (void)limit;
    *grid = 1;
    *block = 256;
    return CUDA_SUCCESS;
}

static CUresult launch_cooperative(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                   unsigned int shared, CUstream stream, void **args)
{
    (void)shared;
    if (stream_check(stream) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_HANDLE;
    const cf_kernel *kernel = (const cf_kernel *)(const void *)function;
    cf_host_launch what = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, args};
    if (kernel->is_host_whole)
        kernel->host(&what, 0, (uint64_t)grid_x * grid_y * grid_z);
    else
        cf__pool_run(kernel->host, &what);
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                       unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                       CUstream stream, void **args, void **extra)
{
    (void)extra;
    return launch_cooperative(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, args);
}

void cf__host_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cf__host_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void cf__host_reset(void)
{
    cf__pool_stop();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < allocation_count; i++)
        free(allocations[i].begin);
    free(allocations);
    allocations = NULL;
    allocation_count = allocation_room = 0;
    if (range)
        munmap(range, HANDLE_RANGE);
    __atomic_store_n(&range, NULL, __ATOMIC_RELEASE);
    free_handles = fresh_handle = NULL;
    pthread_mutex_unlock(&lock);
}

/* ---- Not there yet ---- */

static CUresult absent_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)bytes;
    (void)device;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuDeviceCanAccessPeer(int *possible, CUdevice device, CUdevice peer)
{
    (void)possible;
    (void)device;
    (void)peer;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuDevicePrimaryCtxReset(CUdevice device)
{
    (void)device;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    (void)device;
    (void)flags;
    (void)active;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    (void)least;
    (void)greatest;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    (void)peer;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuCtxDisablePeerAccess(CUcontext peer)
{
    (void)peer;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemGetInfo(size_t *free, size_t *total)
{
    (void)free;
    (void)total;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    (void)pointer;
    (void)bytes;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    (void)pool;
    (void)props;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemPoolDestroy(CUmemoryPool pool)
{
    (void)pool;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    (void)pool;
    (void)attribute;
    (void)value;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)pool;
    (void)keep;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    (void)pointer;
    (void)bytes;
    (void)pool;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                                CUcontext source_context, size_t bytes, CUstream stream)
{
    (void)target;
    (void)target_context;
    (void)source;
    (void)source_context;
    (void)bytes;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    (void)copy;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    (void)stream;
    (void)flags;
    (void)priority;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    (void)status;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)stream;
    (void)mode;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    (void)stream;
    (void)graph;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuLaunchHostFunc(CUstream stream, void (*function)(void *data), void *data)
{
    (void)stream;
    (void)function;
    (void)data;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)exec;
    (void)graph;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    (void)exec;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuGraphDestroy(CUgraph graph)
{
    (void)graph;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuGraphExecDestroy(CUgraphExec exec)
{
    (void)exec;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult absent_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared)
{
    (void)blocks;
    (void)function;
    (void)threads;
    (void)shared;
    return CUDA_ERROR_NOT_SUPPORTED;
}
static CUresult absent_cuMemFreeHost(void *pointer)
{
    (void)pointer;
    return CUDA_ERROR_NOT_SUPPORTED;
}

const struct cf__driver cf__driver_host = {
    .is_host = 1,
    .cuInit = init,
    .cuDriverGetVersion = driver_version,
    .cuGetErrorName = error_name,
    .cuGetErrorString = error_text,
    .cuDeviceGetCount = device_count,
    .cuDeviceGet = device_get,
    .cuDeviceGetName = device_name,
    .cuDeviceGetAttribute = device_attribute,
    .cuDevicePrimaryCtxRetain = primary_retain,
    .cuDevicePrimaryCtxRelease = primary_release,
    .cuCtxGetCurrent = context_current,
    .cuCtxPushCurrent = context_push,
    .cuCtxPopCurrent = context_pop,
    .cuCtxGetDevice = context_device,
    .cuCtxGetId = context_id,
    .cuCtxSynchronize = context_synchronize,
    .cuMemAlloc = mem_alloc,
    .cuMemFree = mem_free,
    .cuMemcpy = mem_copy,
    .cuMemAllocAsync = mem_alloc_async,
    .cuMemFreeAsync = mem_free_async,
    .cuMemcpy2D = mem_copy_2d,
    .cuMemcpyAsync = mem_copy_async,
    .cuMemsetD8Async = mem_fill_async,
    .cuPointerGetAttributes = pointer_attributes,
    .cuStreamCreate = stream_create,
    .cuStreamDestroy = stream_destroy,
    .cuStreamSynchronize = stream_check,
    .cuStreamQuery = stream_check,
    .cuStreamWaitEvent = stream_wait_event,
    .cuStreamGetCtx = stream_context,
    .cuThreadExchangeStreamCaptureMode = capture_mode,
    .cuEventCreate = event_create,
    .cuEventDestroy = event_destroy,
    .cuEventRecord = event_record,
    .cuEventSynchronize = event_check,
    .cuEventQuery = event_check,
    .cuEventElapsedTime = event_elapsed,
    .cuLibraryLoadData = library_load,
    .cuLibraryUnload = library_unload,
    .cuLibraryGetKernel = library_kernel,
    .cuLibraryGetGlobal = library_global,
    .cuKernelGetFunction = kernel_function,
    .cuFuncGetAttribute = function_attribute,
    .cuFuncSetAttribute = function_set_attribute,
    .cuOccupancyMaxPotentialBlockSize = best_block,
    .cuLaunchCooperativeKernel = launch_cooperative,
    .cuLaunchKernel = launch,
    .cuDeviceTotalMem = absent_cuDeviceTotalMem,
    .cuDeviceCanAccessPeer = absent_cuDeviceCanAccessPeer,
    .cuDevicePrimaryCtxReset = absent_cuDevicePrimaryCtxReset,
    .cuDevicePrimaryCtxGetState = absent_cuDevicePrimaryCtxGetState,
    .cuCtxGetStreamPriorityRange = absent_cuCtxGetStreamPriorityRange,
    .cuCtxEnablePeerAccess = absent_cuCtxEnablePeerAccess,
    .cuCtxDisablePeerAccess = absent_cuCtxDisablePeerAccess,
    .cuMemGetInfo = absent_cuMemGetInfo,
    .cuMemHostAlloc = absent_cuMemHostAlloc,
    .cuMemPoolCreate = absent_cuMemPoolCreate,
    .cuMemPoolDestroy = absent_cuMemPoolDestroy,
    .cuMemPoolSetAttribute = absent_cuMemPoolSetAttribute,
    .cuMemPoolTrimTo = absent_cuMemPoolTrimTo,
    .cuMemAllocFromPoolAsync = absent_cuMemAllocFromPoolAsync,
    .cuMemcpyPeerAsync = absent_cuMemcpyPeerAsync,
    .cuMemcpy2DAsync = absent_cuMemcpy2DAsync,
    .cuStreamCreateWithPriority = absent_cuStreamCreateWithPriority,
    .cuStreamIsCapturing = absent_cuStreamIsCapturing,
    .cuStreamBeginCapture = absent_cuStreamBeginCapture,
    .cuStreamEndCapture = absent_cuStreamEndCapture,
    .cuLaunchHostFunc = absent_cuLaunchHostFunc,
    .cuGraphInstantiateWithFlags = absent_cuGraphInstantiateWithFlags,
    .cuGraphLaunch = absent_cuGraphLaunch,
    .cuGraphDestroy = absent_cuGraphDestroy,
    .cuGraphExecDestroy = absent_cuGraphExecDestroy,
    .cuOccupancyMaxActiveBlocksPerMultiprocessor = absent_cuOccupancyMaxActiveBlocksPerMultiprocessor,
    .cuMemFreeHost = absent_cuMemFreeHost,
};
