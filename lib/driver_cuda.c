/* driver_cuda.c - fills the driver table from libcuda.so.1, opened at run time and never linked.
 *
 * The library stays open once it is: others in the process use it too, and it does not support being unloaded. */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "driver.h"
#include "internal.h"

#define ABSENT 1

/* cuGetProcAddress of API version 12.0. */
typedef CUresult get_address(const char *name, void **function, int version, unsigned long long flags, int *found);

static int load(struct cf__driver *driver, get_address *lookup, char *reason, size_t size)
{
    *driver = (struct cf__driver){0};
#define LOAD(name, version, parameters, names)                                                   \
    {                                                                                            \
        void *address = NULL;                                                                    \
        int asked = (version) > CF__DRIVER_VERSION ? (version) : CF__DRIVER_VERSION;             \
        if (lookup(#name, &address, asked, 0, NULL) == CUDA_SUCCESS && address) {                \
            *(void **)&driver->name = address;                                                   \
        } else if ((version) <= CF__DRIVER_VERSION) {                                            \
            snprintf(reason, size, "libcuda.so.1 lacks %s; reinstall the NVIDIA driver", #name); \
            return CF_EDRIVER;                                                                   \
        }                                                                                        \
    }
    CF__DRIVER_FUNCS(LOAD)
#undef LOAD
    return CF_OK;
}

/* dlsym() gives functions as void *, which ISO C does not convert; POSIX says that it works. */
static void (*find(void *library, const char *name))(void)
{
    void (*function)(void) = NULL;
    *(void **)&function = dlsym(library, name);
    return function;
}

static int usable(struct cf__driver *driver, char *reason, size_t size)
{
    CUresult result = driver->cuInit(0);
    if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_STUB_LIBRARY) {
        snprintf(reason, size, "%s",
                 result == CUDA_ERROR_NO_DEVICE ? "the driver finds no GPU"
                                                : "libcuda.so.1 is the toolkit's stub and no driver");
        return ABSENT;
    }
    if (result != CUDA_SUCCESS) {
        const char *name = NULL, *text = NULL;
        driver->cuGetErrorName(result, &name);
        driver->cuGetErrorString(result, &text);
        snprintf(reason, size, "cuInit returned %d (%s, %s)", (int)result, name ? name : "unknown result",
                 text ? text : "no text");
        return CF_EDRIVER;
    }
    int count = 0;
    if (driver->cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0) {
        snprintf(reason, size, "the driver finds no GPU");
        return ABSENT;
    }
    return CF_OK;
}

/* How many objects the process has ever loaded: each is told it. */
static int take_count(struct dl_phdr_info *object, size_t size, void *count)
{
    if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof object->dlpi_adds)
        *(unsigned long long *)count = object->dlpi_adds;
    return 1;
}

/* The dynamic linker goes through all folders where the library could be before it says no: it is asked again when
 * something has been loaded since. */
int cf__driver_cuda_is_loaded(void)
{
    static unsigned long long without; /* the count when it was not there; atomic */
    unsigned long long count = 0;
    (void)dl_iterate_phdr(take_count, &count);
    if (count && count == __atomic_load_n(&without, __ATOMIC_RELAXED))
        return 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    else
        __atomic_store_n(&without, count, __ATOMIC_RELAXED);
    return library != NULL;
}

int cf__driver_cuda(struct cf__driver *driver, char *reason, size_t size)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(reason, size, "no NVIDIA driver (%s)", text ? text : "libcuda.so.1 cannot be opened");
        return ABSENT;
    }
    CUresult (*get_version)(int *) = (CUresult(*)(int *))find(library, "cuDriverGetVersion");
    get_address *lookup = (get_address *)find(library, "cuGetProcAddress_v2");
    int version = 0, status;
    if (!get_version || get_version(&version) != CUDA_SUCCESS) {
        snprintf(reason, size, "libcuda.so.1 is no NVIDIA driver: it has no cuDriverGetVersion");
        status = CF_EDRIVER;
    } else if (version < CF__DRIVER_VERSION || !lookup) {
        snprintf(reason, size,
                 "the NVIDIA driver is for CUDA %d.%d and Cuferry needs one for CUDA %d.%d or newer; update the driver",
                 version / 1000, version % 1000 / 10, CF__DRIVER_VERSION / 1000, CF__DRIVER_VERSION % 1000 / 10);
        status = CF_EDRIVER;
    } else {
        status = load(driver, lookup, reason, size);
    }
    if (status == CF_OK)
        status = usable(driver, reason, size);
    if (status != CF_OK)
        dlclose(library);
    return status;
}
