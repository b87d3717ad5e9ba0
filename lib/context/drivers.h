/* drivers.h - brings drivers into use, and finds the driver and the primary context of a device number. */
#ifndef CF__DRIVERS_H
#define CF__DRIVERS_H

#include "driver/driver.h"
#include "context/backend.h"

/* Hook that only tests define: replaces a driver that comes into use by the returned one. The symbol is weak because a
 * driver may come into use before main(), before a test could have set a pointer. No call pays for it. */
extern const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver) __attribute__((weak));

/* Chooses the default driver if another library of the process has loaded CUDA, because pointers may then be GPU
 * memory. Returns a status; a driver that cannot be used is not a failure. */
int cf__detect_cuda(const char *function);

/* Stores the process's default backend, which the first call chooses. Returns a status; after a failure, the next call
 * tries again. Messages name `function`. */
int cf__default_backend(const char *function, struct cf__backend **backend);

/* Bring the CPU's or the GPUs' driver into use. Return a status; messages begin with `function` or `why`. */
int cf__ensure_cpu(const char *function);
int cf__ensure_cuda(const char *why);

/* Fails with CF_EFORK in a child whose parent used GPUs. The message names `what`, which is a function or a device. */
int cf__fail_fork(const char *what);

/* Stores the backend of a device number, and the device's number within the backend. Returns a status. */
int cf__device_backend(const char *function, int device, struct cf__backend **backend, int *ordinal);

/* Stores the driver and the driver's handle of a device number. Returns a status. */
int cf__device_get(const char *function, int device, const struct cf__driver **driver, CUdevice *handle);

/* Stores the primary context of a device, and retains it at the first use. Returns a status. */
int cf__primary_context(const char *function, struct cf__backend *backend, int ordinal, CUcontext *context);

/* Releases all retained contexts of both drivers. A context whose release fails is kept. If `is_kept`, the GPUs' driver
 * stays in use. Returns the status of the latest failure. The caller holds the lock. */
int cf__drivers_release(int is_kept);

/* The lock protects drivers and primary contexts. */
void cf__drivers_lock(void);
int cf__drivers_trylock(void); /* returns 1 if the lock was taken */
void cf__drivers_unlock(void);

#endif
