/* driver_fault.c - driver tables that inject faults, generated from the list of driver functions; see driver_fault.h.
 * It allocates nothing, so that tests can make allocations fail at the same time. */
#include "driver_fault.h"
#include "context/drivers.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cuferry.h>

enum side { CUDA, HOST, SIDES };
static const struct cf__driver *inner[SIDES];
static struct cf__driver outer[SIDES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */

/* ---- Faults ---- */

/* Numbers the driver functions. */
enum function {
#define NUMBER(name, version, parameters, names) F_##name,
    CF__DRIVER_FUNCS(NUMBER)
#undef NUMBER
};
static const char *const names_of[] = {
#define NAME(name, version, parameters, names) #name,
    CF__DRIVER_FUNCS(NAME)
#undef NAME
};

static _Thread_local int pushed[SIDES];                           /* contexts that this thread has pushed */
static _Thread_local CUstreamCaptureMode modes[SIDES];            /* the thread's capture mode */
static _Thread_local int missed_pops[SIDES], missed_modes[SIDES]; /* failed calls to pop a context or restore a mode */

static long calls, fail_at, injected;
static int fails_as_lost, fails_forever, hits[1024], hit_count; /* functions that failed, in order */
static CUresult fail_with;

static void arm(long at, int is_forever, int is_lost, CUresult result)
{
    pthread_mutex_lock(&lock);
    calls = 0;
    fail_at = at;
    fails_forever = is_forever;
    fails_as_lost = is_lost;
    fail_with = result;
    hit_count = 0;
    pthread_mutex_unlock(&lock);
}

void fault_arm(long at, int is_forever, CUresult result)
{
    arm(at, is_forever, 0, result);
}

void fault_arm_lost(long at)
{
    arm(at, 1, 1, CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* Returns 1 for functions that succeed after the context is lost, as measured on driver 580. */
static int is_answered(enum side side, enum function function)
{
    static const unsigned char answered[] = {
        [F_cuInit] = 1,
        [F_cuDriverGetVersion] = 1,
        [F_cuGetErrorName] = 1,
        [F_cuGetErrorString] = 1,
        [F_cuDeviceGetCount] = 1,
        [F_cuDeviceGet] = 1,
        [F_cuDeviceGetName] = 1,
        [F_cuDeviceGetUuid] = 1,
        [F_cuDeviceGetAttribute] = 1,
        [F_cuDeviceTotalMem] = 1,
        [F_cuDeviceCanAccessPeer] = 1,
        [F_cuDevicePrimaryCtxGetState] = 1,
        [F_cuDevicePrimaryCtxRelease] = 1,
        [F_cuDevicePrimaryCtxReset] = 1,
        [F_cuCtxGetCurrent] = 1,
        [F_cuCtxPushCurrent] = 1,
        [F_cuCtxPopCurrent] = 1,
        [F_cuCtxGetDevice] = 1,
        [F_cuCtxGetId] = 1,
        [F_cuPointerGetAttributes] = 1,
        [F_cuThreadExchangeStreamCaptureMode] = 1,
    };
    return side == HOST || (function < sizeof answered && answered[function]);
}

/* Pops contexts and restores the capture mode if an injected fault prevented the library from doing so; the library
 * cannot try again. */
static void make_up(enum side side)
{
    CUcontext context;
    for (; missed_pops[side] > 0; missed_pops[side]--)
        if (pushed[side] > 0 && inner[side]->cuCtxPopCurrent(&context) == CUDA_SUCCESS)
            pushed[side]--;
    if (missed_modes[side] && modes[side]) {
        CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (inner[side]->cuThreadExchangeStreamCaptureMode(&global) == CUDA_SUCCESS)
            modes[side] = 0;
    }
    missed_modes[side] = 0;
}

int fault_disarm(void)
{
    pthread_mutex_lock(&lock);
    fail_at = 0;
    fails_as_lost = 0;
    int count = hit_count;
    pthread_mutex_unlock(&lock);
    for (int side = 0; side < SIDES; side++)
        make_up((enum side)side);
    return count;
}

const char *fault_hit(int i)
{
    pthread_mutex_lock(&lock);
    const char *name = i < hit_count && i < (int)(sizeof hits / sizeof *hits) ? names_of[hits[i]] : NULL;
    pthread_mutex_unlock(&lock);
    return name;
}

long fault_calls(void)
{
    pthread_mutex_lock(&lock);
    long count = calls;
    pthread_mutex_unlock(&lock);
    return count;
}

long fault_count(void)
{
    pthread_mutex_lock(&lock);
    long count = injected;
    pthread_mutex_unlock(&lock);
    return count;
}

/* Returns 1 if this call must fail, with the error in *result. */
static int strikes(enum side side, enum function function, CUresult *result)
{
    pthread_mutex_lock(&lock);
    if (fails_as_lost && is_answered(side, function)) {
        pthread_mutex_unlock(&lock);
        return 0;
    }
    calls++;
    int is_hit = fail_at && (calls == fail_at || (fails_forever && calls > fail_at));
    if (is_hit) {
        if (hit_count < (int)(sizeof hits / sizeof *hits))
            hits[hit_count] = function;
        hit_count++;
        injected++;
        *result = fail_with;
    }
    pthread_mutex_unlock(&lock);
    missed_pops[side] += is_hit && function == F_cuCtxPopCurrent;
    missed_modes[side] += is_hit && function == F_cuThreadExchangeStreamCaptureMode;
    return is_hit;
}

/* ---- Live objects ---- */

enum kind { MEMORY, PINNED, STREAM, EVENT, GRAPH, EXEC, LIBRARY, POOL, PRIMARY, PEER };
static const char *const kinds[] = {
    "memory",    "pinned memory", "a stream",          "an event",        "a graph", "an executable graph",
    "a library", "a memory pool", "a primary context", "access to a peer"};

static struct object {
    enum side side;
    enum kind kind;
    int device; /* -1: no device */
    uintptr_t handle;
} objects[4096];
static int object_count;

static int current_device(enum side side)
{
    CUdevice device;
    return inner[side]->cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : -1;
}

static void added_on(enum side side, enum kind kind, int device, uintptr_t handle)
{
    pthread_mutex_lock(&lock);
    if (object_count < (int)(sizeof objects / sizeof *objects))
        objects[object_count++] = (struct object){side, kind, device, handle};
    pthread_mutex_unlock(&lock);
}

static void added(enum side side, enum kind kind, uintptr_t handle)
{
    added_on(side, kind, current_device(side), handle);
}

/* Memory that is allocated during a capture is not recorded, because it belongs to the graph. */
static void added_async(enum side side, CUstream stream, uintptr_t handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (inner[side]->cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status == CU_STREAM_CAPTURE_STATUS_NONE)
        added(side, MEMORY, handle);
}

static void removed(enum side side, enum kind kind, uintptr_t handle)
{
    pthread_mutex_lock(&lock);
    for (int i = object_count; i-- > 0;)
        if (objects[i].side == side && objects[i].kind == kind && objects[i].handle == handle) {
            objects[i] = objects[--object_count];
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* Resetting or releasing a primary context destroys all objects in it; libraries and pools belong to no context. */
static void removed_all(enum side side, int device)
{
    pthread_mutex_lock(&lock);
    for (int i = object_count; i-- > 0;)
        if (objects[i].side == side && objects[i].device == device && objects[i].kind != LIBRARY &&
            objects[i].kind != POOL)
            objects[i] = objects[--object_count];
    pthread_mutex_unlock(&lock);
}

static uintptr_t peer_of(enum side side, CUcontext peer)
{
    return (uintptr_t)peer * 16 + (uintptr_t)(current_device(side) + 1);
}

__attribute__((format(printf, 4, 5))) static void report(char *text, size_t size, size_t *used, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (*used < size)
        *used += (size_t)vsnprintf(text + *used, size - *used, format, values);
    va_end(values);
}

int fault_alive(char *text, size_t size)
{
    size_t used = 0;
    int count = 0;
    *text = 0;
    for (int side = 0; side < SIDES; side++) {
        if (pushed[side])
            report(text, size, &used, "%d contexts that were pushed and not popped\n", pushed[side]);
        if (modes[side])
            report(text, size, &used, "the capture mode %u\n", modes[side]);
        count += pushed[side] + (modes[side] != 0);
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < object_count; i++)
        report(text, size, &used, "%s of device %d, %#zx\n", kinds[objects[i].kind],
               objects[i].side == HOST ? CF_HOST : objects[i].device, (size_t)objects[i].handle);
    count += object_count;
    pthread_mutex_unlock(&lock);
    return count;
}

void fault_forget(void)
{
    pthread_mutex_lock(&lock);
    object_count = 0;
    pthread_mutex_unlock(&lock);
}

/* Destroys a library or a pool. Neither belongs to a context, so neither is destroyed with one. */
static void take(const struct object *object)
{
    const struct cf__driver *driver = inner[CUDA];
    if (object->kind == LIBRARY)
        (void)driver->cuLibraryUnload((CUlibrary)object->handle);
    else if (object->kind == POOL)
        (void)driver->cuMemPoolDestroy((CUmemoryPool)object->handle);
}

void fault_take_lost(void)
{
    int devices = 0;
    pthread_mutex_lock(&lock);
    for (int i = object_count; i-- > 0;)
        if (objects[i].side == CUDA && objects[i].kind != PRIMARY) {
            take(&objects[i]);
            objects[i] = objects[--object_count];
        }
    pthread_mutex_unlock(&lock);
    if (!inner[CUDA] || inner[CUDA]->cuDeviceGetCount(&devices) != CUDA_SUCCESS)
        return;
    for (int device = 0; device < devices; device++)
        (void)inner[CUDA]->cuDevicePrimaryCtxReset(device);
}

/* MADE_<function> records the objects that a successful call creates or destroys. */
#define MADE_cuMemAlloc _, added(side, MEMORY, (uintptr_t)*pointer)
#define MADE_cuMemFree _, removed(side, MEMORY, (uintptr_t)pointer)
#define MADE_cuMemAllocAsync _, added_async(side, stream, (uintptr_t)*pointer)
#define MADE_cuMemAllocFromPoolAsync MADE_cuMemAllocAsync
#define MADE_cuMemFreeAsync MADE_cuMemFree
/* On the CPU there is only one kind of memory. */
#define MADE_cuMemHostAlloc _, added(side, side == HOST ? MEMORY : PINNED, (uintptr_t)*pointer)
#define MADE_cuMemFreeHost _, removed(side, side == HOST ? MEMORY : PINNED, (uintptr_t)pointer)
#define MADE_cuStreamCreate _, added(side, STREAM, (uintptr_t)*stream)
#define MADE_cuStreamCreateWithPriority MADE_cuStreamCreate
#define MADE_cuStreamDestroy _, removed(side, STREAM, (uintptr_t)stream)
#define MADE_cuEventCreate _, added(side, EVENT, (uintptr_t)*event)
#define MADE_cuEventDestroy _, removed(side, EVENT, (uintptr_t)event)
#define MADE_cuStreamEndCapture _, added(side, GRAPH, (uintptr_t)*graph)
#define MADE_cuGraphDestroy _, removed(side, GRAPH, (uintptr_t)graph)
#define MADE_cuGraphInstantiateWithFlags _, added(side, EXEC, (uintptr_t)*exec)
#define MADE_cuGraphExecDestroy _, removed(side, EXEC, (uintptr_t)exec)
#define MADE_cuLibraryLoadData _, added_on(side, LIBRARY, -1, (uintptr_t)*library)
#define MADE_cuLibraryUnload _, removed(side, LIBRARY, (uintptr_t)library)
#define MADE_cuMemPoolCreate _, added_on(side, POOL, -1, (uintptr_t)*pool)
#define MADE_cuMemPoolDestroy _, removed(side, POOL, (uintptr_t)pool)
#define MADE_cuDevicePrimaryCtxRetain _, added_on(side, PRIMARY, device, (uintptr_t)device)
#define MADE_cuDevicePrimaryCtxRelease _, removed(side, PRIMARY, (uintptr_t)device)
#define MADE_cuDevicePrimaryCtxReset _, removed_all(side, device)
#define MADE_cuCtxEnablePeerAccess _, added(side, PEER, peer_of(side, peer))
#define MADE_cuCtxDisablePeerAccess _, removed(side, PEER, peer_of(side, peer))
#define MADE_cuCtxPushCurrent _, (void)pushed[side]++
#define MADE_cuCtxPopCurrent _, (void)pushed[side]--
#define MADE_cuThreadExchangeStreamCaptureMode _, (void)(modes[side] = before)

/* Expands to the code of MADE_<function>, or to (void)0 if that macro is not defined. */
#define SECOND(a, b, ...) b
#define MADE(...) SECOND(__VA_ARGS__, (void)0, _)

/* ---- The tables ---- */

/* BEFORE_<function> saves values that MADE_<function> needs but the call overwrites, such as the requested mode. */
#define BEFORE_cuThreadExchangeStreamCaptureMode _, *mode
#define BEFORE(...) SECOND(__VA_ARGS__, 0, _)

#define WRAP_SIDE(side_, prefix, name, parameters, names)  \
    static CUresult prefix##name parameters                \
    {                                                      \
        const enum side side = side_;                      \
        CUresult result_;                                  \
        if (strikes(side_, F_##name, &result_))            \
            return result_;                                \
        const unsigned int before = BEFORE(BEFORE_##name); \
        (void)before;                                      \
        result_ = inner[side]->name names;                 \
        if (result_ == CUDA_SUCCESS)                       \
            MADE(MADE_##name);                             \
        return result_;                                    \
    }
#define WRAP(name, version, parameters, names)      \
    WRAP_SIDE(CUDA, cuda_, name, parameters, names) \
    WRAP_SIDE(HOST, host_, name, parameters, names)
CF__DRIVER_FUNCS(WRAP)
#undef WRAP

const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    enum side side = driver->is_cpu ? HOST : CUDA;
    inner[side] = driver;
    outer[side].is_cpu = driver->is_cpu;
#define FILL(name, version, parameters, names) \
    outer[side].name = !driver->name ? NULL : side == HOST ? host_##name : cuda_##name;
    CF__DRIVER_FUNCS(FILL)
#undef FILL
    return &outer[side];
}
