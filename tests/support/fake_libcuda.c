/* fake_libcuda.c - a libcuda.so.1 that imitates an NVIDIA driver with GPUs, so that the CUDA code of Cuferry can be
 * tested without a GPU. It answers misuse as a driver for CUDA 13.0 did on an H200. Misuse that this driver accepted or
 * crashed on, such as memory used after free or an invalid image, is an error here.
 *
 * It is as strict as a GPU. Device addresses cannot be dereferenced; new device memory is poisoned; handles, contexts
 * and ranges are checked; work stays in its stream until somebody waits for it; after a kernel has accessed memory that
 * it cannot reach, all devices are lost for the rest of the process. Kernels run on the CPU: the library is linked in,
 * and its registry maps entry points of images to kernels.
 *
 * The environment variable FAKE_CUDA, read at the first call, is a list of settings, such as version=12000,devices=1:
 *     version=N  CUDA version of the driver (13000)           init=N   result of cuInit
 *     devices=N  number of GPUs (2)                           load=N   result of cuLibraryLoadData
 *     first=N    number of the first GPU in UUIDs and PCI addresses (0)
 *     cc=N       compute capability (90); cc1=80 sets         lacks=F  function that is not found; may be repeated
 *                that of device 1 only                        oom=N    bytes of all allocations together (16 GiB)
 *     shared=N   bytes of shared memory per block (232448)    resident=N   blocks that run at once (1056)
 *     peer=0     devices do not reach each other's memory     pageable=1   kernels reach ordinary host memory
 *     pools=0    no stream-ordered allocation                 reset=1      a reset repairs a device after a fault;
 *                                                             2: it only returns success
 *     alone=1    a fault loses only its kernel's device
 *     dawdle=N   microseconds that a load or a new context takes (1000)
 *     threads=N  threads per block that the registers allow (1024)
 *     late=1     work in the default stream, too, waits until somebody waits for it */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_libcuda.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT CUresult cuDriverGetVersion(int *version);
EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);
EXPORT fake_cuda_alive_function fake_cuda_alive;
EXPORT fake_cuda_counts_function fake_cuda_counts;

struct fake_settings fake = {.version = 13000,
                             .devices = 2,
                             .memory = (size_t)16 << 30,
                             .shared = 232448,
                             .resident = 1056,
                             .peers = 1,
                             .dawdle = 1000,
                             .threads = 1024,
                             .pools = 1};
struct fake_counts fake_counts;
struct fake_object *fake_objects;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lacks[256]; /* ",cuA,cuB," */
static int init_given;  /* init= was given */
static CUresult init_result;
static int initialized;

/* ---- Settings ---- */

static void set(const char *name, const char *value)
{
    char *end;
    unsigned long long number = strtoull(value, &end, 10);
    int is_number = *value && !*end;
    if (strcmp(name, "lacks") == 0) {
        size_t used = strlen(lacks);
        snprintf(lacks + used, sizeof lacks - used, used ? "%s," : ",%s,", value);
    } else if (is_number && strcmp(name, "version") == 0) {
        fake.version = (int)number;
    } else if (is_number && strcmp(name, "devices") == 0 && number <= FAKE_DEVICES) {
        fake.devices = (int)number;
    } else if (is_number && strcmp(name, "first") == 0) {
        fake.first = (int)number;
    } else if (is_number && strcmp(name, "cc") == 0) {
        for (int i = 0; i < FAKE_DEVICES; i++)
            fake.capability[i] = (int)number;
    } else if (is_number && strncmp(name, "cc", 2) == 0 && name[2] >= '0' && name[2] < '0' + FAKE_DEVICES && !name[3]) {
        fake.capability[name[2] - '0'] = (int)number;
    } else if (is_number && strcmp(name, "init") == 0) {
        init_given = 1;
        init_result = (CUresult)number;
    } else if (is_number && strcmp(name, "load") == 0) {
        fake.load = (CUresult)number;
    } else if (is_number && strcmp(name, "oom") == 0) {
        fake.memory = (size_t)number;
    } else if (is_number && strcmp(name, "shared") == 0) {
        fake.shared = (int)number;
    } else if (is_number && strcmp(name, "resident") == 0) {
        fake.resident = (int)number;
    } else if (is_number && strcmp(name, "peer") == 0) {
        fake.peers = (int)number;
    } else if (is_number && strcmp(name, "pageable") == 0) {
        fake.pageable = (int)number;
    } else if (is_number && strcmp(name, "pools") == 0) {
        fake.pools = (int)number;
    } else if (is_number && strcmp(name, "dawdle") == 0) {
        fake.dawdle = (int)number;
    } else if (is_number && strcmp(name, "late") == 0) {
        fake.late = (int)number;
    } else if (is_number && strcmp(name, "threads") == 0) {
        fake.threads = (unsigned int)number;
    } else if (is_number && strcmp(name, "alone") == 0) {
        fake.alone = (int)number;
    } else if (is_number && strcmp(name, "reset") == 0) {
        fake.reset = (int)number;
    } else {
        fprintf(stderr, "FAKE_CUDA: %s=%s is no setting\n", name, value);
        abort();
    }
}

static void read_settings(void)
{
    char text[512], *rest = text, *item;
    const char *given = getenv("FAKE_CUDA");
    snprintf(text, sizeof text, "%s", given ? given : "");
    set("cc", "90");
    while ((item = strsep(&rest, ",")) != NULL)
        if (*item) {
            char *value = strchr(item, '=');
            if (value)
                *value++ = 0;
            set(item, value ? value : "");
        }
}

/* ---- Exported functions ---- */

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    enum { FOUND, NOT_FOUND, VERSION_NOT_SUFFICIENT };
    static const struct {
        const char *name;
        int version;
        void (*function)(void);
    } functions[] = {
#define ENTRY(name, version, parameters, names) {#name, version, (void (*)(void))fake_##name},
        FAKE_FUNCS(ENTRY)
#undef ENTRY
    };
    int current, found = NOT_FOUND;
    char item[64];
    (void)flags;
    cuDriverGetVersion(&current);
    *function = NULL;
    if (version > current)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        size_t length = strcspn(functions[i].name, "_"); /* later entries have newer signatures */
        snprintf(item, sizeof item, ",%s,", functions[i].name);
        if (strncmp(functions[i].name, name, length) != 0 || name[length] || strstr(lacks, item))
            continue;
        if (functions[i].version <= version) {
            found = FOUND;
            *(void (**)(void))function = functions[i].function;
        } else if (found == NOT_FOUND) {
            found = VERSION_NOT_SUFFICIENT;
        }
    }
    if (status)
        *status = found;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
    return fake_cuDriverGetVersion(version);
}

void fake_report(struct fake_report *to, int count, const char *format, ...)
{
    to->count += count;
    if (to->used >= to->size)
        return;
    va_list values;
    va_start(values, format);
    to->used += (size_t)vsnprintf(to->text + to->used, to->size - to->used, format, values);
    va_end(values);
}

/* Returns the number of live objects and writes one line about each. Tests find it with dlsym(). */
EXPORT int fake_cuda_alive(char *text, size_t size)
{
    struct fake_report to = {.text = text, .size = size};
    if (size)
        *text = 0;
    pthread_mutex_lock(&lock);
    fake_report_contexts(&to);
    for (const struct fake_object *object = fake_objects; object; object = object->next)
        switch (object->kind) {
        case FAKE_ALLOCATION:
            if (((const struct fake_allocation *)object)->type == FAKE_GLOBAL)
                break; /* destroyed with its library */
            if (fake_is_of_graph((const struct fake_allocation *)object) &&
                !((const struct fake_allocation *)object)->is_given)
                break; /* freed with its graphs */
            fake_report(&to, 1, "%zu bytes on device %d\n", ((const struct fake_allocation *)object)->size,
                        object->context->device);
            break;
        case FAKE_STREAM:
        case FAKE_EVENT:
            fake_report(&to, 1, "%s on device %d\n", object->kind == FAKE_STREAM ? "stream" : "event",
                        object->context->device);
            break;
        case FAKE_LIBRARY:
            fake_report(&to, 1, "library\n");
            break;
        case FAKE_POOL:
            fake_report(&to, 1, "memory pool on device %d\n",
                        ((const struct CUmemPoolHandle_st *)(const void *)object)->device);
            break;
        case FAKE_GRAPH:
        case FAKE_EXEC:
            fake_report(&to, 1, "%s\n", object->kind == FAKE_GRAPH ? "graph" : "executable graph");
            break;
        default: /* kernels and functions are destroyed with their library */
            break;
        }
    pthread_mutex_unlock(&lock);
    return to.count;
}

EXPORT const struct fake_counts *fake_cuda_counts(void)
{
    return &fake_counts;
}

/* ---- Calls and objects ---- */

/* Aborts because a host function called the driver, which CUDA forbids. The thread that runs host functions may hold
 * the lock, or wait for its holder. */
static CUresult abandon(void)
{
    fprintf(stderr, "a host function called the driver\n");
    abort();
}

CUresult fake_begin(void)
{
    if (fake_is_in_callback())
        return abandon();
    pthread_mutex_lock(&lock);
    return initialized ? CUDA_SUCCESS : FAKE_NOT_INITIALIZED;
}

CUresult fake_end(CUresult result)
{
    pthread_mutex_unlock(&lock);
    return result;
}

void fake_dawdle(void)
{
    if (fake.dawdle)
        nanosleep(&(struct timespec){.tv_nsec = fake.dawdle * 1000L}, NULL);
}

void *fake_add(enum fake_kind kind, size_t size, CUcontext context)
{
    struct fake_object *object = calloc(1, size);
    if (!object)
        abort();
    *object = (struct fake_object){fake_objects, kind, context};
    return fake_objects = object;
}

void fake_remove(void *object)
{
    struct fake_object **link = &fake_objects, *removed = object;
    if (removed->kind == FAKE_STREAM)
        fake_forget_stream(object);
    while (*link != removed)
        link = &(*link)->next;
    *link = removed->next;
    if (removed->kind == FAKE_ALLOCATION)
        fake_forget_pooled(object);
    if (removed->kind == FAKE_ALLOCATION && ((struct fake_allocation *)object)->type != FAKE_REGISTERED)
        free(((struct fake_allocation *)object)->memory);
    if (removed->kind == FAKE_EVENT)
        free(((CUevent)object)->nodes);
    if (removed->kind == FAKE_GRAPH)
        fake_release_graph(((CUgraph)object)->nodes);
    if (removed->kind == FAKE_EXEC)
        fake_release_graph(((CUgraphExec)object)->nodes);
    free(object);
}

int fake_is_live(const void *object, enum fake_kind kind)
{
    const struct fake_object *other = fake_objects;
    while (other && other != object)
        other = other->next;
    return other && other->kind == kind;
}

/* ---- The driver and its devices ---- */

CUresult fake_cuInit(unsigned int flags)
{
    (void)flags;
    pthread_mutex_lock(&lock);
    CUresult result = init_given ? init_result : fake.devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
    initialized |= result == CUDA_SUCCESS;
    return fake_end(result);
}

CUresult fake_cuDriverGetVersion(int *version)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_settings);
    *version = fake.version;
    return CUDA_SUCCESS;
}

static const struct {
    CUresult result;
    const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static CUresult describe(CUresult result, const char **name, const char **text)
{
    *name = *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result) {
            *name = errors[i].name;
            *text = errors[i].text;
        }
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuGetErrorName(CUresult result, const char **name)
{
    const char *text;
    return describe(result, name, &text);
}

CUresult fake_cuGetErrorString(CUresult result, const char **text)
{
    const char *name;
    return describe(result, &name, text);
}

CUresult fake_check_device(int device)
{
    return device >= 0 && device < fake.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult fake_cuDeviceGetCount(int *count)
{
    *count = fake.devices;
    return fake_end(fake_begin());
}

CUresult fake_cuDeviceGet(CUdevice *device, int ordinal)
{
    TRY(fake_begin());
    *device = ordinal;
    return fake_end(fake_check_device(ordinal));
}

CUresult fake_cuDeviceGetName(char *name, int size, CUdevice device)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    if (size <= 0)
        return fake_end(CUDA_ERROR_INVALID_VALUE);
    snprintf(name, (size_t)size, "Fake GPU %d", device);
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    const struct {
        CUdevice_attribute attribute;
        int value;
    } known[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, fake.capability[device] / 10},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, fake.capability[device] % 10},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, fake.shared},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
        {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
        {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, fake.pageable},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, fake.pools},
        {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 1},
        {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0xca + fake.first + device},
        {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 3},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return fake_end(CUDA_SUCCESS);
        }
    return fake_end(CUDA_ERROR_INVALID_VALUE);
}

CUresult fake_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    for (size_t i = 0; i < sizeof uuid->bytes; i++)
        uuid->bytes[i] = (char)(0x11 * i + (size_t)(fake.first + device));
    return fake_end(CUDA_SUCCESS);
}

CUresult fake_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    TRY(fake_begin());
    TRY(fake_check_device(device));
    *bytes = fake.memory;
    return fake_end(CUDA_SUCCESS);
}
