/* device.c - which driver, device and context a call runs on, and the end of it all. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "internal.h"
#include "trace.h"

/* A driver in use, with the primary contexts that were retained. */
struct backend {
    const struct cf__driver *driver; /* NULL until it is in use; read without the lock */
    int count;
    CUcontext primary[CF__MAX_DEVICES]; /* likewise */
    int owed[CF__MAX_DEVICES];          /* more references to them that have to be given back */
};

enum choice { UNDECIDED, USE_CUDA, USE_HOST };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what is written below */
static struct cf__driver cuda_table;
static struct backend cuda, host;
static int chosen;        /* enum choice; read without the lock */
static char no_cuda[256]; /* why there is no CUDA; read and written under the lock */

static _Thread_local int thread_device;
static _Thread_local int thread_has_device; /* cf_device_use() was called */

void cf__device_lock(void)
{
    pthread_mutex_lock(&lock);
}

int cf__device_trylock(void)
{
    return pthread_mutex_trylock(&lock) == 0;
}

void cf__device_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Takes the lock, for `function`. A callback of cf_set_log() may run under it. */
static int take_lock(const char *function)
{
    if (cf__log_is_inside())
        return cf__fail(CF_EINVAL, "%s: called from the callback of cf_set_log()", function);
    pthread_mutex_lock(&lock);
    return CF_OK;
}

/* ---- Drivers ---- */

static const struct cf__driver *in_use(const struct backend *backend)
{
    return __atomic_load_n(&backend->driver, __ATOMIC_ACQUIRE);
}

const struct cf__driver *cf__cuda_in_use(void)
{
    return cf__is_forked() ? NULL : in_use(&cuda);
}

const struct cf__driver *cf__host_in_use(void)
{
    return in_use(&host);
}

/* With the lock: CF_CHECK, read when the library is first used and not at each launch. */
static int read_check(void)
{
    const char *check = getenv("CF_CHECK");
    if (in_use(&cuda) || in_use(&host))
        return CF_OK;
    if (check && *check && strcmp(check, "0") != 0 && strcmp(check, "1") != 0)
        return cf__fail(CF_EINVAL, "CF_CHECK=%s: it is 0 or 1", check);
    cf__watch(CF__WATCH_POINTERS, check && strcmp(check, "1") == 0);
    int status = cf__plan_configure();
    return status == CF_OK ? cf__trace_open() : status;
}

/* With the lock. */
static int use(struct backend *backend, const struct cf__driver *driver)
{
    if (cf__driver_wrap)
        driver = cf__driver_wrap(driver);
    driver = cf__trace_wrap(driver);
    CUresult result = driver->cuDeviceGetCount(&backend->count);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, "cuDeviceGetCount", "asking for the devices");
    if (backend->count > CF__MAX_DEVICES)
        backend->count = CF__MAX_DEVICES;
    __atomic_store_n(&backend->driver, driver, __ATOMIC_RELEASE);
    cf__was_used = 1;
    return CF_OK;
}

/* With the lock. */
static int use_host(void)
{
    if (in_use(&host))
        return CF_OK;
    int status = cf__pool_configure();
    return status == CF_OK ? use(&host, &cf__driver_host) : status;
}

static void log_cuda(void)
{
    int version = 0;
    if (!__atomic_load_n(&cf__logging, __ATOMIC_RELAXED))
        return;
    if (cuda.driver->cuDriverGetVersion(&version) == CUDA_SUCCESS)
        cf__log(CF_LOG_INFO, "the NVIDIA driver, for CUDA %d.%d, with %d GPUs", version / 1000, version % 1000 / 10,
                cuda.count);
}

/* With the lock: CF_OK, 1 where there is no GPU, else a status; `no_cuda` says why, or where it is empty the detail. */
static int use_cuda(void)
{
    if (in_use(&cuda))
        return CF_OK;
    cf__fork_watch(1); /* before the driver is there: a fork may come in between */
    no_cuda[0] = 0;
    int status = cf__driver_cuda(&cuda_table, no_cuda, sizeof no_cuda);
    if (status == CF_OK)
        status = use(&cuda, &cuda_table);
    if (status == CF_OK)
        log_cuda();
    else
        cf__fork_watch(0);
    return status;
}

/* With the lock, before a driver is first used: the environment. What CF_DRIVER asks for; USE_HOST too where the
 * library was built without GPU code. */
static int wanted(enum choice *choice)
{
    const char *name = getenv("CF_DRIVER");
    if (!name || !*name)
        *choice = CF_CONFIG_CUDA ? UNDECIDED : USE_HOST;
    else if (strcmp(name, "cuda") == 0)
        *choice = USE_CUDA;
    else if (strcmp(name, "host") == 0)
        *choice = USE_HOST;
    else
        return cf__fail(CF_EINVAL, "CF_DRIVER=%s: it is cuda or host", name);
    return read_check();
}

static int choose(const char *function, enum choice *choice)
{
    int status = wanted(choice);
    if (status != CF_OK)
        return status;
    if (*choice != USE_HOST) {
        if (cf__is_forked())
            return cf__fail_fork(function);
        status = use_cuda();
        if (status < 0 && !*no_cuda)
            return status;
        if (status < 0)
            return cf__fail(status, "the GPU cannot be used: %s; CF_DRIVER=host runs on the CPU", no_cuda);
        if (status > 0 && *choice == USE_CUDA)
            return cf__fail(CF_ENODEV, "CF_DRIVER=cuda: %s", no_cuda);
        *choice = status == CF_OK ? USE_CUDA : USE_HOST;
    }
    return *choice == USE_HOST ? use_host() : CF_OK;
}

/* The process's default, decided at its first use. A failure is not kept: the next call tries again. */
static int default_backend(const char *function, struct backend **backend)
{
    int now = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
    if (now == UNDECIDED) {
        enum choice choice = UNDECIDED;
        int status = take_lock(function);
        if (status != CF_OK)
            return status;
        status = choose(function, &choice);
        if (status == CF_OK)
            __atomic_store_n(&chosen, (int)choice, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
        if (status != CF_OK)
            return status;
        now = (int)choice;
        cf__log(CF_LOG_INFO, "calls run on %s by default", now == USE_CUDA ? "GPU 0" : "the CPU");
    }
    if (now == USE_CUDA && cf__is_forked())
        return cf__fail_fork(function);
    *backend = now == USE_CUDA ? &cuda : &host;
    return CF_OK;
}

int cf__look_for_cuda(const char *function)
{
    struct backend *backend;
    struct cf__error before;
    if (__atomic_load_n(&chosen, __ATOMIC_ACQUIRE) != UNDECIDED || cf__is_forked() || !cf__driver_cuda_is_loaded())
        return CF_OK;
    cf__error_save(&before);
    int status = default_backend(function, &backend);
    if (status != CF_EDRIVER && status != CF_ENODEV) /* of a driver that cannot be used there is no memory */
        return status;
    cf__error_restore(&before);
    return CF_OK;
}

static int ensure_host(const char *function)
{
    if (in_use(&host))
        return CF_OK;
    int status = take_lock(function);
    if (status != CF_OK)
        return status;
    status = read_check();
    if (status == CF_OK)
        status = use_host();
    pthread_mutex_unlock(&lock);
    return status;
}

/* CUDA, for calls that cannot run without it; `why` begins the message. */
static int ensure_cuda(const char *why)
{
    if (cf__is_forked())
        return cf__fail_fork(why);
    if (in_use(&cuda))
        return CF_OK;
    enum choice choice = UNDECIDED;
    int status = take_lock(why);
    if (status != CF_OK)
        return status;
    status = wanted(&choice);
    if (status == CF_OK && choice == USE_HOST)
        status = cf__fail(CF_ENODEV, "%s: %s", why,
                          CF_CONFIG_CUDA ? "CF_DRIVER=host keeps this process on the CPU"
                                         : "this library was configured for the CPU alone");
    else if (status == CF_OK && (status = use_cuda()) != CF_OK && *no_cuda)
        status = cf__fail(status > 0 ? CF_ENODEV : status, "%s: %s", why, no_cuda);
    pthread_mutex_unlock(&lock);
    return status;
}

int cf__handle_driver(const char *function, const void *handle, const struct cf__driver **driver)
{
    int is_host = cf__host_owns(handle), status = CF_OK;
    if (!is_host) {
        char why[96];
        snprintf(why, sizeof why, "%s: a stream, event or graph that is not of CF_HOST", function);
        status = ensure_cuda(why);
    }
    *driver = in_use(is_host ? &host : &cuda);
    return status == CF_OK ? cf__handle_check(function, handle) : status;
}

/* ---- Contexts ---- */

CUcontext cf__primary_held(int device)
{
    return __atomic_load_n(&cuda.primary[device], __ATOMIC_ACQUIRE);
}

void cf__primary_hold(int device, CUcontext context)
{
    __atomic_store_n(&cuda.primary[device], context, __ATOMIC_RELEASE);
}

void cf__primary_owe(int device)
{
    cuda.owed[device]++;
}

static int primary_context(struct backend *backend, int ordinal, CUcontext *context)
{
    *context = __atomic_load_n(&backend->primary[ordinal], __ATOMIC_ACQUIRE);
    if (*context)
        return CF_OK;
    const struct cf__driver *driver = backend->driver;
    CUdevice device;
    const char *call = "cuDeviceGet";
    pthread_mutex_lock(&lock);
    CUresult result = CUDA_SUCCESS;
    if (!backend->primary[ordinal]) {
        result = driver->cuDeviceGet(&device, ordinal);
        if (result == CUDA_SUCCESS) {
            call = "cuDevicePrimaryCtxRetain";
            result = driver->cuDevicePrimaryCtxRetain(context, device);
        }
        if (result == CUDA_SUCCESS)
            __atomic_store_n(&backend->primary[ordinal], *context, __ATOMIC_RELEASE);
    }
    *context = backend->primary[ordinal];
    pthread_mutex_unlock(&lock);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(driver, result, call, "device %d", ordinal);
}

/* The backend and ordinal of a device number, for `function`. */
static int device_backend(const char *function, int device, struct backend **backend, int *ordinal)
{
    if (device == CF_HOST) {
        *backend = &host;
        *ordinal = 0;
        return ensure_host(function);
    }
    if (device < 0)
        return cf__fail(CF_ENODEV, "%s: device %d: GPUs count from 0, and the CPU is CF_HOST, %d", function, device,
                        CF_HOST);
    if (!in_use(&cuda) || cf__is_forked()) {
        char why[64];
        snprintf(why, sizeof why, "%s: device %d", function, device);
        int status = ensure_cuda(why);
        if (status != CF_OK)
            return status;
    }
    if (device >= cuda.count)
        return cf__fail(CF_ENODEV, "%s: device %d: there are %d GPUs, from 0, and CF_HOST", function, device,
                        cuda.count);
    *backend = &cuda;
    *ordinal = device;
    return CF_OK;
}

int cf__device(const char *function, int device, const struct cf__driver **driver, CUdevice *handle)
{
    struct backend *backend;
    int ordinal, status = device_backend(function, device, &backend, &ordinal);
    if (status != CF_OK)
        return status;
    *driver = in_use(backend);
    CUresult result = (*driver)->cuDeviceGet(handle, ordinal);
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(*driver, result, "cuDeviceGet", "%s: device %d", function, device);
}

/* The thread's own, where it has one. */
static int get_current(const struct cf__driver *driver, CUcontext *context)
{
    CUresult result = driver->cuCtxGetCurrent(context);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(driver, result, "cuCtxGetCurrent", "entering a context");
}

static int push(struct cf__place *place)
{
    CUresult result = place->driver->cuCtxPushCurrent(place->context);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuCtxPushCurrent", "entering a context");
    place->pushed = 1;
    return CF_OK;
}

static int make_current(struct cf__place *place)
{
    CUcontext current = NULL;
    int status = get_current(place->driver, &current);
    place->pushed = 0;
    return status != CF_OK || current == place->context ? status : push(place);
}

static int enter_device(struct cf__place *place, struct backend *backend, int ordinal)
{
    place->driver = in_use(backend);
    int status = primary_context(backend, ordinal, &place->context);
    return status == CF_OK ? make_current(place) : status;
}

int cf__enter_device(struct cf__place *place, const char *function, int device)
{
    struct backend *backend;
    int ordinal, status = device_backend(function, device, &backend, &ordinal);
    return status == CF_OK ? enter_device(place, backend, ordinal) : status;
}

static int enter_thread_device(struct cf__place *place, const char *function)
{
    struct backend *backend;
    int ordinal = 0, status;
    if (thread_has_device) {
        status = device_backend(function, thread_device, &backend, &ordinal);
        return status == CF_OK ? enter_device(place, backend, ordinal) : status;
    }
    status = default_backend(function, &backend);
    if (status != CF_OK)
        return status;
    place->driver = in_use(backend);
    place->pushed = 0;
    if (backend != &cuda)
        return enter_device(place, backend, 0);
    status = get_current(place->driver, &place->context);
    if (status != CF_OK || place->context)
        return status;
    status = primary_context(backend, 0, &place->context);
    return status == CF_OK ? push(place) : status;
}

/* Leaves the place again where its context is lost. */
static int check_lost(struct cf__place *place, const char *function)
{
    if (!(cf__gpu_state() & CF__GPU_LOST))
        return CF_OK;
    int status = cf__check_lost(place, function);
    if (status != CF_OK)
        cf__leave(place);
    return status;
}

static int enter(struct cf__place *place, const char *function, cf_stream stream)
{
    /* The default streams have no context of their own. */
    if ((uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD)
        return enter_thread_device(place, function);
    place->driver = in_use(&cuda);
    if (!place->driver || cf__gpu_state() != CF__GPU_OURS || cf__host_owns(stream)) {
        int status = cf__handle_driver(function, stream, &place->driver);
        if (status != CF_OK)
            return status;
    }
    CUresult result = place->driver->cuStreamGetCtx(stream, &place->context);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuStreamGetCtx", "%s: stream %p", function, (void *)stream);
    return make_current(place);
}

int cf__enter(struct cf__place *place, const char *function, cf_stream stream)
{
    int status = enter(place, function, stream);
    return status == CF_OK ? check_lost(place, function) : status;
}

/* Enters a device that is started, where there is one. */
static int enter_started(struct cf__place *place, struct backend *backend)
{
    int started = 0;
    while (started < backend->count && !__atomic_load_n(&backend->primary[started], __ATOMIC_ACQUIRE))
        started++;
    return enter_device(place, backend, started < backend->count ? started : 0);
}

int cf__enter_context(struct cf__place *place, const struct cf__driver *driver, CUcontext context)
{
    place->driver = driver;
    place->context = context;
    place->pushed = 0;
    int status = CF_OK;
    if (context)
        status = make_current(place);
    else if ((status = get_current(driver, &place->context)) == CF_OK && !place->context)
        status = enter_started(place, driver->is_host ? &host : &cuda);
    return status == CF_OK ? check_lost(place, "entering a context") : status;
}

int cf__enter_handle(struct cf__place *place, const char *function, const void *handle)
{
    const struct cf__driver *driver;
    int status = cf__handle_driver(function, handle, &driver);
    if (status == CF_OK && !driver->is_host && cf__gpu_state() & CF__GPU_LOST)
        return cf__handle_enter(place, function, driver, handle);
    if (status == CF_OK && !driver->is_host) {
        status = cf__enter(place, function, NULL);
        if (status != CF_OK || place->driver == driver)
            return status;
        cf__leave(place);
    }
    return status == CF_OK ? cf__enter_context(place, driver, NULL) : status;
}

void cf__leave(struct cf__place *place)
{
    CUcontext context;
    if (place->pushed)
        (void)place->driver->cuCtxPopCurrent(&context); /* fails only in a context that is lost already */
    place->pushed = 0;
}

int cf__place_device(const struct cf__place *place, int *device)
{
    if (place->driver->is_host) {
        *device = CF_HOST;
        return CF_OK;
    }
    CUresult result = place->driver->cuCtxGetDevice(device);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(place->driver, result, "cuCtxGetDevice", "current device");
}

/* ---- The public functions ---- */

int cf_device_count(int *count)
{
    if (!count)
        return cf__fail(CF_EINVAL, "cf_device_count: count is NULL");
    struct backend *backend;
    int status = default_backend("cf_device_count", &backend);
    if (status == CF_OK)
        *count = backend == &cuda ? cuda.count : 0;
    return status;
}

int cf_device_use(int device)
{
    struct backend *backend;
    int ordinal, status = device_backend("cf_device_use", device, &backend, &ordinal);
    if (status == CF_OK) {
        thread_device = device;
        thread_has_device = 1;
    }
    return status;
}

int cf_device_current(int *device)
{
    if (!device)
        return cf__fail(CF_EINVAL, "cf_device_current: device is NULL");
    struct cf__place place;
    int status = enter(&place, "cf_device_current", NULL); /* also where that context is lost */
    if (status != CF_OK)
        return status;
    status = cf__place_device(&place, device);
    cf__leave(&place);
    return status;
}

int cf_device_name(int device, char *name, size_t size)
{
    if (!name || size == 0)
        return cf__fail(CF_EINVAL, "cf_device_name: %s", name ? "size is 0" : "name is NULL");
    const struct cf__driver *driver;
    CUdevice handle;
    int status = cf__device("cf_device_name", device, &driver, &handle);
    if (status != CF_OK)
        return status;
    CUresult result = driver->cuDeviceGetName(name, size > INT32_MAX ? INT32_MAX : (int)size, handle);
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(driver, result, "cuDeviceGetName", "device %d", device);
}

int cf_device_sync(void)
{
    struct cf__place place;
    struct cf__device_wait wait;
    int status = cf__enter(&place, "cf_device_sync", NULL);
    if (status != CF_OK)
        return status;
    status = cf__device_wait_begin("cf_device_sync", &place, &wait);
    if (status == CF_OK) {
        int mode = cf__relax(place.driver);
        CUresult result = cf__wait_for_all(&place);
        cf__unrelax(place.driver, mode);
        cf__device_wait_end(&wait);
        if (result != CUDA_SUCCESS)
            status = cf__fail_driver(place.driver, result, "cuCtxSynchronize", "cf_device_sync");
    }
    cf__leave(&place);
    return status;
}

int cf_require(int requirement)
{
    if (requirement != CF_CUDA)
        return cf__fail(CF_EINVAL, "cf_require: %d is no requirement; CF_CUDA is", requirement);
    return ensure_cuda("cf_require(CF_CUDA)");
}

/* With the lock. What cannot be released stays, to be tried again. */
static int release(struct backend *backend, int is_kept)
{
    const struct cf__driver *driver = in_use(backend);
    int status = CF_OK;
    for (int i = 0; driver && i < backend->count; i++)
        while (backend->primary[i] || backend->owed[i]) {
            CUdevice device;
            const char *call = "cuDeviceGet";
            CUresult result = driver->cuDeviceGet(&device, i);
            if (result == CUDA_SUCCESS) {
                call = "cuDevicePrimaryCtxRelease";
                result = driver->cuDevicePrimaryCtxRelease(device);
            }
            if (result != CUDA_SUCCESS && !cf__is_gone(result)) {
                status = cf__fail_driver(driver, result, call, "cf_shutdown: device %d", i);
                break;
            }
            if (backend->owed[i])
                backend->owed[i]--;
            else
                backend->primary[i] = NULL;
        }
    if (status == CF_OK && !is_kept)
        memset(backend, 0, sizeof *backend);
    return status;
}

int cf__devices_release(int is_kept)
{
    int status = cf__is_forked() ? CF_OK : release(&cuda, is_kept), of_host = release(&host, 0);
    if (cf__is_forked())
        memset(&cuda, 0, sizeof cuda);
    __atomic_store_n(&chosen, UNDECIDED, __ATOMIC_RELEASE);
    return status == CF_OK ? of_host : status;
}
