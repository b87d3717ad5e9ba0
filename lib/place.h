/* place.h - where a call runs: drivers, devices, contexts that are entered, and what a fork takes away. */
#ifndef CF__PLACE_H
#define CF__PLACE_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver.h"
#include "status.h"

/* Functions on the way of every launch: the linker lays them side by side. */
#define CF__HOT __attribute__((hot))

struct capture;

/* What every launch looks at, in a line of the cache of its own; all are atomic. */
extern struct cf__hot {
    _Alignas(64) const struct cf__driver *cuda; /* backend.c: the GPUs' driver, NULL until it is in use */
    int *gpu_page;                              /* fork.c: in a page that a fork wipes */
    struct capture *captures;                   /* graph.c: that are open, the latest first */
    char *handles;                              /* host_stream.c: the range of the CPU's; NULL until the first */
    int watching;                               /* launch.c: what sends launches the long way */
    int is_cuda_default;                        /* backend.c: GPUs are where calls run by default */
} cf__hot;

/* Whether a stream, an event or a graph is the CPU driver's: its handles come from one reserved range. */
#define CF__HANDLE_RANGE ((size_t)16 << 20)

static inline int cf__host_owns(const void *handle)
{
    const char *begin = __atomic_load_n(&cf__hot.handles, __ATOMIC_ACQUIRE);
    return begin && (uintptr_t)handle - (uintptr_t)begin < CF__HANDLE_RANGE;
}

/* ---- fork.c ---- */

/* How GPUs stand in this process, as bits: a call on one goes the long way where it is not CF__GPU_OURS alone. */
enum {
    CF__GPU_OURS = 1,  /* absent in a child whose parent used them */
    CF__GPU_LOST = 2,  /* a context was lost to a fault */
    CF__GPU_RESET = 4, /* a device was reset: handles from before are refused */
};

static inline int cf__gpu_state(void)
{
    return __atomic_load_n(__atomic_load_n(&cf__hot.gpu_page, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
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
static inline const struct cf__driver *cf__cuda_in_use(void)
{
    return cf__is_forked() ? NULL : __atomic_load_n(&cf__hot.cuda, __ATOMIC_ACQUIRE);
}

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

extern _Thread_local int cf__has_device; /* cf_device_use() was called: the thread's device is not the default one */

/* The device that cf_device_use() chose for the calling thread, where it was called; and another choice for a while,
 * which returns the one before. */
struct cf__chosen {
    int is_chosen, device;
};
struct cf__chosen cf__device_choose(struct cf__chosen chosen);

/* Where a call runs: its context is current on the thread between enter and leave. */
struct cf__place {
    const struct cf__driver *driver;
    CUcontext context;
    int pushed; /* leave has to pop it */
};

/* What a handle is of: the driver may give the address of one that is gone to one of another kind. */
enum cf__kind {
    CF__STREAM,
    CF__EVENT,
    CF__GRAPH,
    CF__GRAPH_EXEC,
    CF__PAGE_LOCKED, /* memory */
};

/* Enter the device of `stream`, or where it is NULL that of the calling thread, for `function`, which messages name. */
int cf__enter(struct cf__place *place, const char *function, cf_stream stream);

/* Enter a context of a driver. */
int cf__enter_context(struct cf__place *place, const char *function, const struct cf__driver *driver,
                      CUcontext context);
void cf__leave(struct cf__place *place);

/* The last step of entering where GPUs are the default and the thread has no context: it is lent that of GPU 0. */
int cf__enter_lent(struct cf__place *place, const char *function);

/* The number of the place's device: CF_HOST or a GPU's. */
int cf__place_device(const struct cf__place *place, const char *function, int *device);

/* A device by its number, for `function`; and entering its primary context, or the thread's own where that is of this
 * device and cf_device_use() has not chosen the primary one. */
int cf__device(const char *function, int device, const struct cf__driver **driver, CUdevice *handle);
int cf__enter_device(struct cf__place *place, const char *function, int device);
int cf__enter_near(struct cf__place *place, const char *function, int device);

/* Enters a context of the driver that an event, a graph or an executable graph belongs to: its own, as far as that is
 * known, else one that there is already. The thread's device is not started for this. */
int cf__enter_handle(struct cf__place *place, const char *function, const char *name, enum cf__kind kind,
                     const void *handle);

/* The driver that a stream, an event or a graph belongs to, for the argument `name` of `function`. */
int cf__handle_driver(const char *function, const char *name, enum cf__kind kind, const void *handle,
                      const struct cf__driver **driver);

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
