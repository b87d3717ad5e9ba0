/* drivers.c - brings drivers into use, chooses the default one, and retains and releases primary contexts. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>

#include "context/drivers.h"

#include "base/env.h"
#include "base/error.h"
#include "base/fast.h"
#include "base/lock.h"
#include "base/log.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "driver/driver_cuda.h"
#include "driver/failure.h"
#include "trace/ranges.h"
#include "trace/trace.h"
#include "trace/trace_driver.h"
#include "trace/trace_end.h"
#include "cpu/driver_cpu.h"
#include "context/lost.h"
#include "config.h"

enum choice { UNDECIDED, USE_CUDA, USE_CPU };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock for changes of the variables below */
static _Alignas(64) struct cf__driver cuda_table;
static int default_choice; /* default driver, an enum choice; also read without the lock */
static char no_cuda[256];  /* reason why CUDA cannot be used; guarded by the lock */

void cf__drivers_lock(void)
{
    cf__lock(&lock);
}

int cf__drivers_trylock(void)
{
    return cf__trylock(&lock);
}

void cf__drivers_unlock(void)
{
    cf__unlock(&lock);
}

int cf__fail_fork(const char *what)
{
    return cf__fail(CF_EFORK,
                    "%s: this process was forked from one that used a GPU, and cannot; cf_device_use(CF_HOST) runs on "
                    "the CPU, or fork before the first use",
                    what);
}

/* Takes the lock. Fails inside the log's callback, because a driver must not come into use in the middle of a call. */
static int take_lock(const char *function)
{
    if (cf__log_is_inside())
        return cf__fail(CF_EINVAL, "%s: called from the callback of cf_set_log()", function);
    cf__drivers_lock();
    return CF_OK;
}

/* ---- Drivers ---- */

extern int cf__was_used; /* this reference links the constructor in process/shutdown.c */

/* Reads the environment and opens the trace at the first use of the library. The caller holds the lock. */
static int read_environment(void)
{
    if (cf__backend_driver(&cf__cuda) || cf__backend_driver(&cf__cpu))
        return CF_OK;
    int status = cf__env_read_calls();
    cf__was_used = 1;
    cf__ranges_open();
    return status == CF_OK ? cf__trace_open() : status;
}

/* The caller holds the lock. */
static int use_driver(struct cf__backend *backend, const struct cf__driver *driver)
{
    if (cf__driver_wrap)
        driver = cf__driver_wrap(driver);
    driver = cf__trace_wrap(driver);
    cf__trace_end_at_exit(driver);
    CUresult result = driver->cuDeviceGetCount(&backend->count);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(driver, result, "cuDeviceGetCount", "asking for the devices");
    if (backend->count > CF__MAX_DEVICES)
        backend->count = CF__MAX_DEVICES;
    __atomic_store_n(&backend->driver, driver, __ATOMIC_RELEASE);
    if (backend == &cf__cuda)
        __atomic_store_n(&cf__fast.cuda, driver, __ATOMIC_RELEASE);
    return CF_OK;
}

/* The caller holds the lock. */
static int use_cpu(void)
{
    if (cf__backend_driver(&cf__cpu))
        return CF_OK;
    int status = cf__pool_configure();
    return status == CF_OK ? use_driver(&cf__cpu, &cf__driver_cpu) : status;
}

static void log_cuda_version(void)
{
    int version = 0;
    if (!__atomic_load_n(&cf__logging, __ATOMIC_RELAXED))
        return;
    if (cf__cuda.driver->cuDriverGetVersion(&version) == CUDA_SUCCESS)
        cf__log(CF_LOG_INFO, "the NVIDIA driver, for CUDA %d.%d, with %d GPUs", version / 1000, version % 1000 / 10,
                cf__cuda.count);
}

/* Returns CF_OK, 1 if there is no GPU, or a status. The reason is in `no_cuda`, or in the detail if `no_cuda` is empty.
 * The caller holds the lock. */
static int use_cuda(void)
{
    if (cf__backend_driver(&cf__cuda))
        return CF_OK;
    cf__fork_watch(1); /* called before the driver is in use, because another thread may fork at any time */
    no_cuda[0] = 0;
    int status = cf__driver_cuda_fill(&cuda_table, no_cuda, sizeof no_cuda);
    if (status == CF_OK)
        status = use_driver(&cf__cuda, &cuda_table);
    if (status == CF_OK)
        log_cuda_version();
    else
        cf__fork_watch(0);
    return status;
}

/* Stores the driver that CF_DRIVER requests. Without CF_DRIVER, stores USE_CPU in a library without GPU code, and
 * UNDECIDED otherwise. The caller holds the lock. */
static int read_wanted_driver(enum choice *choice)
{
    enum cf__env_driver driver;
    int status = cf__env_read_driver(&driver);
    if (driver == CF__ENV_NO_DRIVER)
        *choice = CF_CONFIG_CUDA ? UNDECIDED : USE_CPU;
    else
        *choice = driver == CF__ENV_CUDA ? USE_CUDA : USE_CPU;
    return status == CF_OK ? read_environment() : status;
}

static int choose_default(const char *function, enum choice *choice)
{
    int status = read_wanted_driver(choice);
    if (status != CF_OK)
        return status;
    if (*choice != USE_CPU) {
        if (cf__is_forked())
            return cf__fail_fork(function);
        status = use_cuda();
        if (status < 0 && !*no_cuda)
            return status;
        if (status < 0)
            return cf__fail(status, "the GPU cannot be used: %s; CF_DRIVER=host runs on the CPU", no_cuda);
        if (status > 0 && *choice == USE_CUDA)
            return cf__fail(CF_ENODEV, "CF_DRIVER=cuda: %s", no_cuda);
        *choice = status == CF_OK ? USE_CUDA : USE_CPU;
    }
    return *choice == USE_CPU ? use_cpu() : CF_OK;
}

static void set_default_choice(enum choice choice)
{
    __atomic_store_n(&default_choice, (int)choice, __ATOMIC_RELEASE);
    __atomic_store_n(&cf__fast.is_cuda_default, choice == USE_CUDA, __ATOMIC_RELEASE);
}

CF__HOT int cf__default_backend(const char *function, struct cf__backend **backend)
{
    int now = __atomic_load_n(&default_choice, __ATOMIC_ACQUIRE);
    if (now == UNDECIDED) {
        enum choice choice = UNDECIDED;
        int status = take_lock(function);
        if (status != CF_OK)
            return status;
        status = choose_default(function, &choice);
        if (status == CF_OK)
            set_default_choice(choice);
        cf__drivers_unlock();
        if (status != CF_OK)
            return status;
        now = (int)choice;
        cf__log(CF_LOG_INFO, "calls run on %s by default", now == USE_CUDA ? "GPU 0" : "the CPU");
    }
    if (now == USE_CUDA && cf__is_forked())
        return cf__fail_fork(function);
    *backend = now == USE_CUDA ? &cf__cuda : &cf__cpu;
    return CF_OK;
}

int cf__detect_cuda(const char *function)
{
    struct cf__backend *backend;
    struct cf__error before;
    if (__atomic_load_n(&default_choice, __ATOMIC_ACQUIRE) != UNDECIDED || cf__is_forked() ||
        !cf__driver_cuda_is_loaded())
        return CF_OK;
    cf__error_save(&before);
    int status = cf__default_backend(function, &backend);
    if (status == CF_EDRIVER || status == CF_ENODEV) /* if the driver cannot be used, no pointer is its memory */
        status = CF_OK;
    (status == CF_OK ? cf__error_restore : cf__error_keep)(&before);
    return status;
}

int cf__ensure_cpu(const char *function)
{
    if (cf__backend_driver(&cf__cpu))
        return CF_OK;
    int status = take_lock(function);
    if (status != CF_OK)
        return status;
    status = read_environment();
    if (status == CF_OK)
        status = use_cpu();
    cf__drivers_unlock();
    return status;
}

int cf__ensure_cuda(const char *why)
{
    if (cf__is_forked())
        return cf__fail_fork(why);
    if (cf__backend_driver(&cf__cuda))
        return CF_OK;
    enum choice choice = UNDECIDED;
    int status = take_lock(why);
    if (status != CF_OK)
        return status;
    status = read_wanted_driver(&choice);
    if (status == CF_OK && choice == USE_CPU)
        status = cf__fail(CF_ENODEV, "%s: %s", why,
                          CF_CONFIG_CUDA ? "CF_DRIVER=host keeps this process on the CPU"
                                         : "this library was configured for the CPU alone");
    else if (status == CF_OK && (status = use_cuda()) != CF_OK && *no_cuda)
        status = cf__fail(status > 0 ? CF_ENODEV : status, "%s: %s", why, no_cuda);
    cf__drivers_unlock();
    return status;
}

/* ---- Numbers of devices ---- */

int cf__device_backend(const char *function, int device, struct cf__backend **backend, int *ordinal)
{
    if (device == CF_HOST) {
        *backend = &cf__cpu;
        *ordinal = 0;
        return cf__ensure_cpu(function);
    }
    if (device < 0)
        return cf__fail(CF_ENODEV, "%s: device %d: GPUs count from 0, and the CPU is CF_HOST, %d", function, device,
                        CF_HOST);
    if (!cf__backend_driver(&cf__cuda) || cf__is_forked()) {
        char why[64];
        snprintf(why, sizeof why, "%s: device %d", function, device);
        int status = cf__ensure_cuda(why);
        if (status != CF_OK)
            return status;
    }
    if (device >= cf__cuda.count)
        return cf__fail(CF_ENODEV, "%s: device %d: there are %d GPUs, from 0, and CF_HOST", function, device,
                        cf__cuda.count);
    *backend = &cf__cuda;
    *ordinal = device;
    return CF_OK;
}

int cf__device_get(const char *function, int device, const struct cf__driver **driver, CUdevice *handle)
{
    struct cf__backend *backend;
    int ordinal, status = cf__device_backend(function, device, &backend, &ordinal);
    if (status != CF_OK)
        return status;
    *driver = cf__backend_driver(backend);
    CUresult result = (*driver)->cuDeviceGet(handle, ordinal);
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(*driver, result, "cuDeviceGet", "%s: device %d", function, device);
}

/* ---- Primary contexts ---- */

int cf__primary_context(const char *function, struct cf__backend *backend, int ordinal, CUcontext *context)
{
    *context = __atomic_load_n(&backend->primary[ordinal], __ATOMIC_ACQUIRE);
    if (*context)
        return CF_OK;
    const struct cf__driver *driver = backend->driver;
    CUdevice device;
    const char *call = "cuDeviceGet";
    cf__drivers_lock();
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
    cf__drivers_unlock();
    return result == CUDA_SUCCESS ? CF_OK : cf__fail_driver(driver, result, call, "%s: device %d", function, ordinal);
}

/* Keeps a context whose release fails, so that a later call tries again. The caller holds the lock. */
static int release_primary_contexts(struct cf__backend *backend, int is_kept)
{
    const struct cf__driver *driver = cf__backend_driver(backend);
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
            if (result != CUDA_SUCCESS && !cf__result_is_gone(result)) {
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

int cf__drivers_release(int is_kept)
{
    int status = cf__is_forked() ? CF_OK : release_primary_contexts(&cf__cuda, is_kept),
        cpu_status = release_primary_contexts(&cf__cpu, 0);
    if (cf__is_forked())
        memset(&cf__cuda, 0, sizeof cf__cuda);
    __atomic_store_n(&cf__fast.cuda, cf__cuda.driver, __ATOMIC_RELEASE);
    set_default_choice(UNDECIDED);
    return status == CF_OK ? cpu_status : status;
}
