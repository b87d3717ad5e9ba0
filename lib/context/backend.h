/* backend.h - the record of a driver in use: its table, its number of GPUs, and the retained primary contexts. */
#ifndef CF__BACKEND_H
#define CF__BACKEND_H

#include "base/fast.h"
#include "driver/driver.h"

/* Maximum number of GPUs; the library ignores further ones. */
#define CF__MAX_DEVICES 64

/* A driver in use, with the primary contexts that the library has retained. */
struct cf__backend {
    const struct cf__driver *driver; /* driver table; NULL until the first use; atomic */
    int count;
    CUcontext primary[CF__MAX_DEVICES]; /* retained primary context of each device, or NULL; atomic */
    int owed[CF__MAX_DEVICES];          /* number of further references that the library has to release */
};
extern struct cf__backend cf__cuda, cf__cpu;

/* Returns the backend's driver, or NULL until it is in use. */
static inline const struct cf__driver *cf__backend_driver(const struct cf__backend *backend)
{
    return __atomic_load_n(&backend->driver, __ATOMIC_ACQUIRE);
}

/* Return the driver if it is already in use, else NULL. */
static inline const struct cf__driver *cf__cpu_in_use(void)
{
    return cf__backend_driver(&cf__cpu);
}

static inline const struct cf__driver *cf__cuda_in_use(void)
{
    return cf__is_forked() ? NULL : __atomic_load_n(&cf__fast.cuda, __ATOMIC_ACQUIRE);
}

/* Returns 1 if the process has a single GPU. CUDA must be in use. */
static inline int cf__is_only_gpu(void)
{
    return cf__cuda.count == 1;
}

/* Returns the primary context of a GPU that the library has retained, or NULL. */
CUcontext cf__primary_held(int device);

/* Set the retained context of a GPU, and count a further reference to it, on behalf of cf_device_reset(). */
void cf__primary_hold(int device, CUcontext context);
void cf__primary_owe(int device);

/* Forgets a retained context that another library has reset, so that the next use retains the new context. */
void cf__primary_drop(int device, CUcontext gone);

#endif
