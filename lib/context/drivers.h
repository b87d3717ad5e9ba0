/* drivers.h - drivers in use, devices by number, primary contexts. */
#ifndef CF__DRIVERS_H
#define CF__DRIVERS_H

#include <stddef.h>

#include "base/fast.h"
#include "driver/driver.h"

/* GPUs beyond this number do not count. */
#define CF__MAX_DEVICES 64

/* Tests put a driver of their own around one that comes into use: what it returns is used in its place. Absent else. */
extern const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver) __attribute__((weak));

/* The drivers that are in use already, NULL where one is not. */
static inline const struct cf__driver *cf__cuda_in_use(void)
{
    return cf__is_forked() ? NULL : __atomic_load_n(&cf__fast.cuda, __ATOMIC_ACQUIRE);
}

const struct cf__driver *cf__cpu_in_use(void);

/* Where another library in the process has loaded CUDA and this one has no default driver yet: decides on that, since
 * pointers may be memory of a GPU. */
int cf__detect_cuda(const char *function);

/* The primary context of a GPU that is held; NULL: none. Hold and owe (a reference more) are for cf_device_reset(). */
CUcontext cf__primary_held(int device);
void cf__primary_hold(int device, CUcontext context);
void cf__primary_owe(int device);

/* One that is held has been reset by another library: the next one is taken at its first use. */
void cf__primary_drop(int device, CUcontext gone);

/* All that are held, of both drivers; with the lock. The status of the latest that fails and stays. `is_kept`: the
 * GPUs' driver stays in use, for what is left there. */
int cf__drivers_release(int is_kept);

void cf__drivers_lock(void); /* of drivers and primary contexts */
int cf__drivers_trylock(void);
void cf__drivers_unlock(void);

/* Whether there is no other GPU in the process; CUDA is in use. */
int cf__is_only_gpu(void);

/* A driver in use, with the primary contexts that were retained. */
struct cf__backend {
    const struct cf__driver *driver; /* NULL until it is in use; read without the lock */
    int count;
    CUcontext primary[CF__MAX_DEVICES]; /* likewise */
    int owed[CF__MAX_DEVICES];          /* more references to them that have to be given back */
};
extern struct cf__backend cf__cuda, cf__cpu;

static inline const struct cf__driver *cf__backend_driver(const struct cf__backend *backend)
{
    return __atomic_load_n(&backend->driver, __ATOMIC_ACQUIRE);
}

/* The process's default, decided at its first use, for `function`. A failure is not kept: the next call tries again. */
int cf__default_backend(const char *function, struct cf__backend **backend);

/* One of the two, for calls that cannot run without it; for CUDA `why` begins the message. */
int cf__ensure_host(const char *function);
int cf__ensure_cuda(const char *why);

/* The primary context of a device, which is started where it is not, for `function`. */
int cf__primary_context(const char *function, struct cf__backend *backend, int ordinal, CUcontext *context);

/* The backend and ordinal of a device number, for `function`. */
int cf__device_backend(const char *function, int device, struct cf__backend **backend, int *ordinal);

/* A device by its number, for `function`. */
int cf__device_get(const char *function, int device, const struct cf__driver **driver, CUdevice *handle);

#endif
