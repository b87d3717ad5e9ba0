/* drivers.h - drivers in use, devices by number, primary contexts. */
#ifndef CF__DRIVERS_H
#define CF__DRIVERS_H

#include <stddef.h>

#include "base/fast.h"
#include "driver/driver.h"

/* Limit of GPUs in use; further GPUs are ignored. */
#define CF__MAX_DEVICES 64

/* A driver in use, with the primary contexts that the library has retained. */
struct cf__backend {
    const struct cf__driver *driver; /* NULL until it is in use; atomic */
    int count;
    CUcontext primary[CF__MAX_DEVICES]; /* NULL: not retained; atomic */
    int owed[CF__MAX_DEVICES];          /* further references that the library has to release */
};
extern struct cf__backend cf__cuda, cf__cpu;

/* Returns the backend's driver, NULL until it is in use. */
static inline const struct cf__driver *cf__backend_driver(const struct cf__backend *backend)
{
    return __atomic_load_n(&backend->driver, __ATOMIC_ACQUIRE);
}

/* Return a driver that is already in use, else NULL. */
static inline const struct cf__driver *cf__cpu_in_use(void)
{
    return cf__backend_driver(&cf__cpu);
}

static inline const struct cf__driver *cf__cuda_in_use(void)
{
    return cf__is_forked() ? NULL : __atomic_load_n(&cf__fast.cuda, __ATOMIC_ACQUIRE);
}

/* Hook of tests: its result replaces a driver that comes into use. Programs do not define it. */
extern const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver) __attribute__((weak));

/* Decides on the default driver if another library of the process has loaded CUDA, because pointers may then be memory
 * of a GPU. Returns a status; a driver that cannot be used is no failure. */
int cf__detect_cuda(const char *function);

/* Stores the default backend of the process, which the first call decides. Returns a status; the next call tries again
 * after a failure. Messages name `function`. */
int cf__default_backend(const char *function, struct cf__backend **backend);

/* Bring the CPU's or the GPUs' driver into use. Return a status; messages begin with `function` or `why`. */
int cf__ensure_cpu(const char *function);
int cf__ensure_cuda(const char *why);

/* Stores the backend of a device number, and the device's number within the backend. Returns a status. */
int cf__device_backend(const char *function, int device, struct cf__backend **backend, int *ordinal);

/* Stores the driver and the driver's handle of a device number. Returns a status. */
int cf__device_get(const char *function, int device, const struct cf__driver **driver, CUdevice *handle);

/* Stores the primary context of a device, which it retains at the first use. Returns a status. */
int cf__primary_context(const char *function, struct cf__backend *backend, int ordinal, CUcontext *context);

/* Returns the primary context of a GPU that the library has retained, or NULL. */
CUcontext cf__primary_held(int device);

/* Set the retained context of a GPU, and count a further reference to it, for cf_device_reset(). */
void cf__primary_hold(int device, CUcontext context);
void cf__primary_owe(int device);

/* Forgets a retained context that another library has reset; the next use retains the new one. */
void cf__primary_drop(int device, CUcontext gone);

/* Releases all retained contexts of both drivers. Returns the status of the latest failure; contexts that fail stay.
 * `is_kept`: the GPUs' driver stays in use. Caller holds the lock. */
int cf__drivers_release(int is_kept);

/* Lock of drivers and primary contexts. */
void cf__drivers_lock(void);
int cf__drivers_trylock(void); /* returns 1 if it got the lock */
void cf__drivers_unlock(void);

/* Returns 1 if the process has a single GPU. CUDA is in use. */
static inline int cf__is_only_gpu(void)
{
    return cf__cuda.count == 1;
}

#endif
