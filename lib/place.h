/* place.h - where a call runs: drivers, devices, contexts that are entered, and what a fork takes away. */
#ifndef CF__PLACE_H
#define CF__PLACE_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver.h"
#include "status.h"

/* ---- fork.c ---- */

/* How GPUs stand in this process, as bits: a call on one goes the long way where it is not CF__GPU_OURS alone. */
enum {
    CF__GPU_OURS = 1,  /* absent in a child whose parent used them */
    CF__GPU_LOST = 2,  /* a context was lost to a fault */
    CF__GPU_RESET = 4, /* a device was reset: handles from before are refused */
};
extern int *cf__gpu_page; /* in a page that a fork wipes */

static inline int cf__gpu_state(void)
{
    return __atomic_load_n(__atomic_load_n(&cf__gpu_page, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
}

static inline int cf__is_forked(void)
{
    return !(cf__gpu_state() & CF__GPU_OURS);
}

/* CF_EFORK with its detail, for `what` is called. */
int cf__fail_fork(const char *what);

void cf__fork_watch(int is_used);       /* from now on a child has no GPU; 0: takes that back */
void cf__gpu_mark(int bits, int is_on); /* sets or clears CF__GPU_LOST, CF__GPU_RESET */
void cf__fork_start(void);              /* of the program or shared object */
void cf__fork_end(void);

/* ---- backend.c ---- */

/* GPUs beyond this number do not count. */
#define CF__MAX_DEVICES 64

/* Tests put a driver of their own around one that comes into use: what it returns is used in its place. Absent else. */
extern const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver) __attribute__((weak));

/* The drivers that are in use already, NULL where one is not. */
const struct cf__driver *cf__cuda_in_use(void);
const struct cf__driver *cf__host_in_use(void);

/* Where another library in the process has loaded CUDA and this one has no default driver yet: decides on that, since
 * pointers may be memory of a GPU. */
int cf__look_for_cuda(const char *function);

/* The primary context of a GPU that is held; NULL: none. Hold and owe (a reference more) are for cf_device_reset(). */
CUcontext cf__primary_held(int device);
void cf__primary_hold(int device, CUcontext context);
void cf__primary_owe(int device);

/* One that is held has been reset by another library: the next one is taken at its first use. */
void cf__primary_drop(int device, CUcontext gone);

/* All that are held, of both drivers; with the lock. The status of the latest that fails and stays. `is_kept`: the
 * GPUs' driver stays in use, for what is left there. */
int cf__devices_release(int is_kept);

void cf__device_lock(void); /* of drivers and primary contexts */
int cf__device_trylock(void);
void cf__device_unlock(void);

/* Whether there is no other GPU in the process; CUDA is in use. */
int cf__is_only_gpu(void);

/* ---- device.c ---- */

/* Where a call runs: its context is current on the thread between enter and leave. */
struct cf__place {
    const struct cf__driver *driver;
    CUcontext context;
    int pushed; /* leave has to pop it */
};

/* Enter the device of `stream`, or where it is NULL that of the calling thread, for `function`, which messages name. */
int cf__enter(struct cf__place *place, const char *function, cf_stream stream);

/* Enter a context of a driver. */
int cf__enter_context(struct cf__place *place, const char *function, const struct cf__driver *driver,
                      CUcontext context);
void cf__leave(struct cf__place *place);

/* The number of the place's device: CF_HOST or a GPU's. */
int cf__place_device(const struct cf__place *place, const char *function, int *device);

/* A device by its number, for `function`; and entering its primary context, or the thread's own where that is of this
 * device and cf_device_use() has not chosen the primary one. */
int cf__device(const char *function, int device, const struct cf__driver **driver, CUdevice *handle);
int cf__enter_device(struct cf__place *place, const char *function, int device);
int cf__enter_near(struct cf__place *place, const char *function, int device);

/* Enters a context of the driver that an event, a graph or an executable graph belongs to: its own, as far as that is
 * known, else one that there is already. The thread's device is not started for this. */
int cf__enter_handle(struct cf__place *place, const char *function, const void *handle);

/* The driver that a stream, an event or a graph belongs to, for `function`. */
int cf__handle_driver(const char *function, const void *handle, const struct cf__driver **driver);

/* Lets the thread do, while a stream is captured, what could break a capture and does not, such as loading and
 * allocating for the library's own use. Give what it returns to cf__unrelax(). */
static inline int cf__relax(const struct cf__driver *driver)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return driver->cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS ? (int)mode : -1;
}

static inline void cf__unrelax(const struct cf__driver *driver, int mode)
{
    CUstreamCaptureMode before = (CUstreamCaptureMode)mode;
    if (mode >= 0 && driver->cuThreadExchangeStreamCaptureMode(&before) != CUDA_SUCCESS)
        (void)driver->cuThreadExchangeStreamCaptureMode(&before);
}

#endif
