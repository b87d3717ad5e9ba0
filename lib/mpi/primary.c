/* primary.c - makes primary contexts current with the driver's own functions. */
#include "mpi/primary.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/find.h>

#include "mpi/agree.h"

struct CUctx_st;

/* Functions of the driver, declared as in cuda.h. */
static struct {
    int (*cuDevicePrimaryCtxRetain)(struct CUctx_st **context, int device);
    int (*cuDevicePrimaryCtxRelease)(int device);
    int (*cuCtxPushCurrent)(struct CUctx_st *context);
    int (*cuCtxPopCurrent)(struct CUctx_st **context);
} driver;
static int is_loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef int get_function(const char *name, void **function, int version, uint64_t flags, int *found);

static int load_functions(get_function *get)
{
    const struct {
        const char *name;
        int version;
        void *function;
    } wanted[] = {{"cuDevicePrimaryCtxRetain", 7000, &driver.cuDevicePrimaryCtxRetain},
                  {"cuDevicePrimaryCtxRelease", 11000, &driver.cuDevicePrimaryCtxRelease},
                  {"cuCtxPushCurrent", 4000, &driver.cuCtxPushCurrent},
                  {"cuCtxPopCurrent", 4000, &driver.cuCtxPopCurrent}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (get(wanted[i].name, wanted[i].function, wanted[i].version, 0, NULL) != 0 || !*(void **)wanted[i].function)
            return cf__mpi_fail(CF_ECALL, "the driver has no %s", wanted[i].name);
    is_loaded = 1;
    return CF_OK;
}

/* The core library has already loaded the driver; this handle is never closed. */
static int load(void)
{
    const char *path = NULL;
    get_function *get = NULL;
    if (is_loaded)
        return CF_OK;
    int status = cf_find("libcuda", &path);
    if (status != CF_OK)
        return status;
    void *library = dlopen(path, RTLD_NOW);
    if (library)
        *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
    return get ? load_functions(get) : cf__mpi_fail(CF_ECALL, "%s: it has no cuGetProcAddress_v2", path);
}

int cf__mpi_primary_push(int device)
{
    struct CUctx_st *context = NULL;
    if (device == CF_HOST)
        return CF_OK;
    pthread_mutex_lock(&lock);
    int status = load();
    pthread_mutex_unlock(&lock);
    if (status != CF_OK)
        return status;
    int result = driver.cuDevicePrimaryCtxRetain(&context, device);
    if (result)
        return cf__mpi_fail(CF_ECALL, "cuDevicePrimaryCtxRetain: result %d", result);
    result = driver.cuCtxPushCurrent(context);
    if (!result)
        return CF_OK;
    (void)driver.cuDevicePrimaryCtxRelease(device);
    return cf__mpi_fail(CF_ECALL, "cuCtxPushCurrent: result %d", result);
}

void cf__mpi_primary_pop(int device)
{
    struct CUctx_st *context = NULL;
    if (device == CF_HOST)
        return;
    (void)driver.cuCtxPopCurrent(&context);
    (void)driver.cuDevicePrimaryCtxRelease(device);
}
