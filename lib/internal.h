/* internal.h - what the library's files share. */
#ifndef CF__INTERNAL_H
#define CF__INTERNAL_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver.h"

/* ---- error.c ---- */

/* Bytes of the longest detail. */
#define CF__DETAIL 768

/* Keep the calling thread's detail and return `status`. */
__attribute__((format(printf, 2, 3))) int cf__fail(int status, const char *format, ...);

/* The status that a driver's result stands for. */
int cf__status_of(CUresult result);

/* The same for a driver call: adds the call, the driver's name for the result and its text; maps it to a status. */
__attribute__((format(printf, 4, 5))) int cf__fail_driver(const struct cf__driver *driver, CUresult result,
                                                          const char *call, const char *format, ...);

/* Where the detail begins with the name of an entry point, makes it that of its `_async` form. */
void cf__name_async(const char *function);

/* ---- log.c ---- */

/* One line for the callback of cf_set_log(), if there is one. */
extern int cf__logging; /* whether; atomic */
__attribute__((format(printf, 2, 3))) void cf__log_line(int level, const char *format, ...);
#define cf__log(...) (__atomic_load_n(&cf__logging, __ATOMIC_RELAXED) ? cf__log_line(__VA_ARGS__) : (void)0)

/* Whether the calling thread is in the callback: what it calls in spite of the rules fails where it would wait for a lock. */
int cf__log_is_inside(void);

/* Its lock, for fork. */
void cf__log_lock(void);
void cf__log_unlock(void);

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

/* What the calling thread's detail says, around what may fail without being a failure of the call. */
struct cf__error {
    char detail[CF__DETAIL];
    CUresult result;
};
void cf__error_save(struct cf__error *error);
void cf__error_restore(const struct cf__error *error);

/* ---- device.c ---- */

/* Where a call runs: its context is current on the thread between enter and leave. */
struct cf__place {
    const struct cf__driver *driver;
    CUcontext context;
    int pushed; /* leave has to pop it */
};

/* Tests put a driver of their own around one that comes into use: what it returns is used in its place. Absent else. */
extern const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver) __attribute__((weak));

/* Enter the device of `stream`, or where it is NULL that of the calling thread, for `function`, which messages name. */
int cf__enter(struct cf__place *place, const char *function, cf_stream stream);

/* Enter a context of a driver; any of its contexts where `context` is NULL. */
int cf__enter_context(struct cf__place *place, const struct cf__driver *driver, CUcontext context);
void cf__leave(struct cf__place *place);

/* GPUs beyond this number do not count. */
#define CF__MAX_DEVICES 64

/* The primary context of a GPU that is held; NULL: none. Hold and owe (a reference more) are for cf_device_reset(). */
CUcontext cf__primary_held(int device);
void cf__primary_hold(int device, CUcontext context);
void cf__primary_owe(int device);

/* All that are held, of both drivers; with the lock. The status of the latest that fails and stays. `is_kept`: the GPUs'
 * driver stays in use, for what is left there. */
int cf__devices_release(int is_kept);

void cf__device_lock(void); /* of drivers and primary contexts */
int cf__device_trylock(void);
void cf__device_unlock(void);

/* The number of the place's device: CF_HOST or a GPU's. */
int cf__place_device(const struct cf__place *place, int *device);

/* A device by its number, for `function`; and entering its primary context. */
int cf__device(const char *function, int device, const struct cf__driver **driver, CUdevice *handle);
int cf__enter_device(struct cf__place *place, const char *function, int device);

/* Where another library in the process has loaded CUDA and this one has no default driver yet: decides on that, since
 * pointers may be memory of a GPU. */
int cf__look_for_cuda(const char *function);

/* The drivers that are in use already, NULL where one is not. */
const struct cf__driver *cf__cuda_in_use(void);
const struct cf__driver *cf__host_in_use(void);

/* Enters a context of the driver that an event, a graph or an executable graph belongs to, where any of its contexts
 * will do: the thread's own where that is one, so that no device is started for this. */
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

/* ---- context.c ---- */

/* An id that no context has. */
#define CF__NO_CONTEXT (UINT64_MAX - 1)

/* What the library keeps for a context, from its first use to cf_shutdown() or cf_device_reset(). Records are never
 * taken off the list before cf_shutdown(); that of a context that is gone serves a later one. */
struct cf__context {
    unsigned long long id; /* CF__NO_CONTEXT where it serves none; atomic */
    CUcontext handle;
    const struct cf__driver *driver;
    int device;                /* CF_HOST or a GPU's number */
    int is_lost;               /* to a kernel's fault; atomic */
    char running[256];         /* the entry points that ran then, for messages */
    struct cf__stages *stages; /* stage.c's buffers and streams; under its lock */
    struct cf__context *next;
};

/* The record of the place's context, made at its first use. */
int cf__context(const struct cf__place *place, struct cf__context **context);

/* The record of a context, if there is one; by its address where the driver does not tell its id. */
struct cf__context *cf__context_of(const struct cf__driver *driver, CUcontext handle);

/* The record with an id, if there is one. */
struct cf__context *cf__context_find(unsigned long long id);

/* The next record after one, or after NULL the first. */
struct cf__context *cf__context_next(const struct cf__context *context);

void cf__context_drop(struct cf__context *context); /* that is gone */
void cf__contexts_forget(void);                     /* every record, at cf_shutdown() */
void cf__contexts_lock(void);                       /* for fork */
void cf__contexts_unlock(void);

/* Where a driver call has failed: notes which context is lost, if one is, and appends to the detail in `text`. Returns the
 * status, CF_EFAULT for any call in a lost context. */
int cf__note_lost(const struct cf__driver *driver, int status, char *text, size_t size);

/* Notes that a context is lost; `running` where that is known from before, else NULL. */
void cf__context_lose(const struct cf__driver *driver, CUcontext handle, int device, const char *running);

/* Whether a result means that what was to be freed is gone already: with its context, or with the driver. */
int cf__is_gone(CUresult result);

/* CF_EFAULT where the place's context is lost. Asked for where cf__gpu_state() has CF__GPU_LOST. */
int cf__check_lost(const struct cf__place *place, const char *function);

/* Keeps what could not be freed, to be tried again at cf_shutdown(): `free` is called with the place's context
 * current. */
void cf__keep(const struct cf__place *place, CUresult (*free)(const struct cf__driver *driver, uintptr_t what),
              uintptr_t what);
int cf__kept_free(void); /* the status of the latest that still fails, which stays */

/* The same without the driver: of a context that is gone, or with NULL of all. */
void cf__kept_forget(CUcontext context);

/* ---- shutdown.c ---- */

extern int cf__was_used; /* a driver came into use: closing the shared object that holds the library has to give back */

/* ---- handle.c ---- */

/* Keeps a stream, event or graph that was made in the place's context, so that it is refused after a reset of its device, and
 * returns it. Where there is no memory for that, the driver judges it. */
void *cf__handle_keep(const struct cf__place *place, void *handle);
void cf__handle_drop(const void *handle); /* once it is destroyed */

/* CF_EINVAL for one that went with a reset; costs a load before the first. */
int cf__handle_check(const char *function, const void *handle);

CUcontext cf__handle_context(const void *handle); /* where it was made; NULL where that is not known */

void cf__handles_reset(CUcontext context, int device);
void cf__handles_forget(void);
void cf__handles_lock(void); /* for fork */
void cf__handles_unlock(void);

/* ---- running.c ---- */

/* What one thread launched in one context and does not know to be done. Read by all threads, written by its own. */
enum { CF__RUNNING = 8 };
struct cf__running {
    unsigned long long context; /* its id, or CF__NO_CONTEXT; atomic */
    uint64_t launches;          /* odd while one is being enqueued */
    uint64_t done;              /* those up to this number are; written under the lock */
    uint64_t unlisted;          /* the latest one that found no slot */
    int slot;                   /* that of the latest one */
    struct cf__running_slot {
        const cf_kernel *kernel;
        cf_stream stream;
        uint64_t latest; /* number of its latest launch */
    } slots[CF__RUNNING];
    CUcontext handle;  /* the context's; like what follows, under the lock */
    const void *owner; /* its thread; NULL where that has ended */
    const void *asker; /* the thread that waits for the whole context; NULL: none */
    uint64_t asked;    /* what was enqueued when that began to wait */
    struct cf__running *next;
};

/* That of the calling thread's latest launch. */
extern _Thread_local struct cf__running *cf__running;

/* The same for another kernel, stream, context or none. NULL where there is no memory. */
struct cf__running *cf__note_other_launch(struct cf__context *context, const cf_kernel *kernel, cf_stream stream);

/* Notes that a kernel is launched, for what is said when one of them faults. Right before the launch; right behind it comes
 * cf__note_launched(). What is left out or stays noted for too long makes messages name more kernels, never wrong ones. */
static inline struct cf__running *cf__note_launch(struct cf__context *context, const cf_kernel *kernel,
                                                  cf_stream stream)
{
    struct cf__running *running = cf__running;
    if (!running || __atomic_load_n(&running->context, __ATOMIC_RELAXED) != context->id ||
        running->slots[running->slot].kernel != kernel || running->slots[running->slot].stream != stream)
        return cf__note_other_launch(context, kernel, stream);
    uint64_t number = (running->launches + 1) | 1;
    __atomic_store_n(&running->slots[running->slot].latest, number, __ATOMIC_RELAXED);
    __atomic_store_n(&running->launches, number, __ATOMIC_RELEASE);
    return running;
}

/* The same of a graph, whose kernels are not known. */
struct cf__running *cf__note_graph(struct cf__context *context, cf_stream stream); /* NULL: none */

static inline void cf__note_launched(struct cf__running *running)
{
    if (running)
        __atomic_store_n(&running->launches, running->launches + 1, __ATOMIC_RELEASE);
}

/* After a successful wait for a stream of the place's context: what this thread launched there is done. */
void cf__note_waited(const struct cf__place *place, cf_stream stream);

/* cuCtxSynchronize(), after which all that was launched before in the place's context is done. */
CUresult cf__wait_for_all(const struct cf__place *place);

/* Writes "cf_a was", "one of cf_a, cf_b was" or "no kernel of Cuferry's was": what may be running in a context. */
void cf__running_text(unsigned long long context, char *text, size_t size);

/* The notes of a context that is gone; CF__NO_CONTEXT: all. */
void cf__running_forget(unsigned long long context);
void cf__running_start(void); /* of the program or shared object */
void cf__running_end(void);
void cf__running_lock(void); /* for fork */
void cf__running_unlock(void);
void cf__running_forget_threads(void); /* in a child: the others are gone */

/* ---- memory.c ---- */

/* What is known of a pointer. */
struct cf__memory {
    const struct cf__driver *driver; /* that allocated or registered it; NULL: ordinary host memory */
    CUcontext context;
    int is_device;     /* not readable by the CPU, unless the driver is the host */
    int device;        /* number of its device: CF_HOST or a GPU's */
    void *usable;      /* its address on that device */
    const void *begin; /* of its allocation; NULL where not known */
    size_t left;       /* bytes from the pointer to the end of that; SIZE_MAX where not known */
    int is_bounded;    /* nothing lies behind that end; behind registered host memory may lie more of an array */
};

/* Fails, for `function`, where a driver does not answer: the pointer must then not be taken for ordinary host
 * memory. */
int cf__locate(const char *function, const void *pointer, struct cf__memory *memory);

/* Bytes from an address to the end of what is registered or allocated there with CUDA; SIZE_MAX where nothing is
 * known. */
size_t cf__left(uintptr_t address);

/* Enters the context of memory of a driver; memory of a pool has none: one of its device. */
int cf__enter_memory(struct cf__place *place, const char *function, const struct cf__memory *memory);

/* ---- copy.c ---- */

/* Copies in the place's context, on `stream` where `is_async`. */
CUresult cf__copy(const struct cf__place *place, void *target, const void *source, size_t bytes, int is_async,
                  cf_stream stream);

/* ---- stream.c ---- */

/* Whether `stream` is one of the default streams, which have no context of their own. */
static inline int cf__is_default(cf_stream stream)
{
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* CF_OK where waiting for `stream` in the place's context, or using a default stream there, breaks no capture; else
 * CF_ECAPTURE. */
int cf__check_wait(const char *function, const struct cf__place *place, cf_stream stream);

/* ---- graph.c ---- */

/* The same for a wait for everything in the place's context, of the captures that cf_stream_capture_begin() began; others
 * begin after its end. */
struct cf__device_wait {
    CUcontext context;
    struct cf__device_wait *next;
};
int cf__device_wait_begin(const char *function, const struct cf__place *place, struct cf__device_wait *wait);
void cf__device_wait_end(struct cf__device_wait *wait);
void cf__device_waits_forget(void); /* in a forked child, with the lock: the waiting threads are not there */

void cf__captures_forget(CUcontext context); /* of one that is gone; NULL: all */
void cf__capture_lock(void);                 /* for fork */
void cf__capture_unlock(void);

/* ---- mempool.c ---- */

/* Memory on the place's device in the order of `stream`, from the library's pool. On failure `call` is the driver's
 * function that failed, for cf__fail_driver(), and `memory` is 0. */
CUresult cf__pool_alloc_async(const struct cf__place *place, cf_stream stream, size_t bytes, CUdeviceptr *memory,
                              const char **call);
CUresult cf__pool_free_async(const struct cf__place *place, cf_stream stream, CUdeviceptr memory, const char **call);

/* Gives back what the pool of the place's device keeps and nobody uses; whether there may be any. */
int cf__pool_trim(const struct cf__place *place);

/* Lets the GPU `device` reach the pool of the GPU `peer`, or no longer. */
CUresult cf__pool_share(const struct cf__driver *driver, int device, int peer, int is_on);

/* At cf_shutdown() every pool; at cf_device_reset() that of a GPU, CUDA being in use. A pool that cannot be
 * destroyed stays. */
int cf__mempools_destroy(const struct cf__driver *driver);
int cf__mempool_destroy(const struct cf__driver *driver, int device);
void cf__mempools_forget(void); /* without the driver */

/* ---- peer.c ---- */

/* Whether kernels on GPU `device` reach the memory of GPU `peer`, since cf_peer_enable() was called or they are one. */
int cf__peer_enabled(int device, int peer);

uint64_t cf__peers_of(int peer); /* a bit for each GPU that cf_peer_enable() lets reach it */

int cf__peers_disable(const struct cf__driver *driver); /* all that the library enabled, at cf_shutdown() */
void cf__peers_forget(int device);                      /* what concerns a GPU whose primary context was reset */

/* ---- expr.c ---- */

/* Evaluates an expression over a kernel's arguments; CF_EOVERFLOW without detail where it overflows. */
int cf__evaluate(const cf_kernel *kernel, const cf_expr *expr, void *const args[], int64_t *value);

/* Evaluates a real one; CF_EINVAL without detail where it reads what is no number. */
int cf__evaluate_real(const cf_kernel *kernel, const cf_expr *expr, void *const args[], double *value);

/* The integer or bool at `address`; without detail CF_EOVERFLOW past INT64_MAX, CF_EINVAL for other types. */
int cf__integer(cf_type type, const void *address, int64_t *value);

/* Writes "N = 3, g.nx = 4", the values that `count` expressions read; absent expressions are passed over. */
void cf__describe(const cf_kernel *kernel, const cf_expr *const exprs[], size_t count, void *const args[], char *text,
                  size_t size);

/* ---- section.c ---- */

/* Where the elements of an array argument lie; worked out and checked by cf__section(). */
struct cf__section {
    int64_t count; /* of its elements; 0: there are none, and the rest says nothing */
    size_t offset; /* bytes from the array's pointer to its first element */
    size_t span;   /* bytes from there to the end of its last element */
    uint32_t ndims;
    int64_t lowers[CF_ARRAY_DIMS], extents[CF_ARRAY_DIMS];
    size_t strides[CF_ARRAY_DIMS]; /* bytes from an element to the next in each dimension */
};
int cf__section(const cf_kernel *kernel, uint32_t i, void *const args[], struct cf__section *section);

/* Whether a parameter is an array of declared extent. */
static inline int cf__is_array(const cf_param *param)
{
    return param->ndims > 0 && param->direction != CF_VALUE && param->direction != CF_POINTER;
}

/* The same elements as `slices` times `rows` rows of `length` bytes that lie without gaps: as few rows as can be. */
struct cf__rows {
    size_t length, rows, pitch; /* bytes of a row, rows of a slice, bytes from one to the next */
    size_t slices;
    uint32_t nouter; /* dimensions that tell the slices apart, outermost first */
    size_t extents[CF_ARRAY_DIMS], strides[CF_ARRAY_DIMS];
};
void cf__rows(const struct cf__section *section, size_t element, struct cf__rows *rows);
size_t cf__slice(const struct cf__rows *rows, size_t slice); /* bytes from the first element to that slice */

/* Copies a section between host memory and device memory, where it lies alike; both point to its first element. `call` is
 * what does it. */
CUresult cf__copy_section(const struct cf__place *place, const struct cf__section *section, size_t element, void *host,
                          void *device, int to_host, const char **call);

/* ---- image.c ---- */

/* A kernel, or a symbol, as it is loaded in one context. */
struct cf__loaded {
    unsigned long long context; /* its id */
    struct cf__context *owner;  /* what is kept of it */
    CUfunction function;        /* of a kernel */
    CUdeviceptr address;        /* of a symbol */
    int is_simple;              /* of a kernel: neither cooperative nor with scratch memory */
    int block;                  /* what block(auto) gives; 0 until asked; atomic */
    int shared;                 /* bytes of dynamic shared memory that a launch may have; -1 until asked; atomic */
    struct cf__loaded *next;
};

/* What a state has for the context of that id; NULL where nothing is loaded there. Without a lock: nodes are only added. */
static inline struct cf__loaded *cf__loaded_in(const cf_state *state, unsigned long long context)
{
    struct cf__loaded *node = __atomic_load_n(&state->loaded, __ATOMIC_ACQUIRE);
    while (node && __atomic_load_n(&node->context, __ATOMIC_ACQUIRE) != context)
        node = node->next;
    return node;
}

/* The kernel as it is loaded in the place's context; NULL where it is not. */
static inline struct cf__loaded *cf__kernel_loaded(const cf_kernel *kernel, const struct cf__place *place)
{
    unsigned long long id;
    return place->driver->cuCtxGetId(place->context, &id) == CUDA_SUCCESS ? cf__loaded_in(kernel->state, id) : NULL;
}

/* The kernel as the place's driver launches it; loaded at its first use in a context. */
int cf__kernel_load(const cf_kernel *kernel, const struct cf__place *place, struct cf__loaded **loaded);

/* The block of a block(auto). */
int cf__kernel_block(const cf_kernel *kernel, const struct cf__place *place, struct cf__loaded *loaded, int *block);

/* Sees to it that a launch may have `bytes` of dynamic shared memory; the first names the call that failed. */
CUresult cf__kernel_allow(const struct cf__place *place, struct cf__loaded *loaded, int bytes, const char **call);
int cf__kernel_share(const cf_kernel *kernel, const struct cf__place *place, struct cf__loaded *loaded, int bytes,
                     void *const args[]);

/* A symbol on a GPU, likewise. */
int cf__symbol_load(const cf_symbol *symbol, const struct cf__place *place, struct cf__loaded **loaded);

/* Every image, of a driver that is still in use, or NULL; the status of the latest that fails and stays. */
int cf__images_unload(const struct cf__driver *cuda);
void cf__images_drop(unsigned long long context); /* what was found in a context that is gone */
void cf__image_lock(void);                        /* of loading, for fork */
void cf__image_unlock(void);

/* ---- launch.c ---- */

/* What sends every launch the long way, as bits; known once a driver is in use. */
enum {
    CF__WATCH_POINTERS = 1, /* CF_CHECK=1: cf_launch() checks its pointers */
    CF__WATCH_TRACE = 2     /* CF_TRACE: launches are recorded */
};
extern int cf__watching; /* atomic */

static inline int cf__watches(int what)
{
    return __atomic_load_n(&cf__watching, __ATOMIC_RELAXED) & what;
}

void cf__watch(int what, int is_on);

/* Checks the version and the size of a descriptor, `what`. */
int cf__check_descriptor(const char *what, uint32_t version, uint32_t size, size_t least);

/* Whether a descriptor is of this library's version and has at least what that began with. */
static inline int cf__is_known(const cf_kernel *kernel)
{
    return kernel && kernel->version == CF_REGISTRY_VERSION && kernel->size >= CF_KERNEL_BYTES;
}

/* The latest stream, no default one, that the calling thread enqueued on, and where it is. cuLaunchKernel() and
 * cuGraphLaunch() need no current context where the stream has one, and refuse what is of another context: so the context
 * alone has to be asked whether it is still the same, and a handle that another stream has by now is found out by what the
 * driver returns. */
struct cf__known {
    cf_stream stream; /* NULL: none */
    const struct cf__driver *driver;
    CUcontext context;
    unsigned long long id;
};
extern _Thread_local struct cf__known cf__known;

/* The driver of a stream that is known, and the id of its context; NULL where the call has to go the long way. */
static inline const struct cf__driver *cf__known_stream(cf_stream stream, unsigned long long *id)
{
    const struct cf__known *known = &cf__known;
    if (!stream || stream != known->stream || known->driver != cf__cuda_in_use() || cf__gpu_state() != CF__GPU_OURS ||
        cf__watches(-1) || known->driver->cuCtxGetId(known->context, id) != CUDA_SUCCESS || *id != known->id)
        return NULL;
    return known->driver;
}

static inline void cf__know_stream(cf_stream stream, const struct cf__place *place, unsigned long long id)
{
    if ((uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD && !place->driver->is_host)
        cf__known = (struct cf__known){stream, place->driver, place->context, id};
}

/* Whether what the driver returned may come of a handle that is another's by now, or has to be said with the context that it
 * is about: then the long way is gone, which finds out. */
int cf__is_unknown(CUresult result);

/* Whether the kernel's compiled checks find everything in order, and the size of the launch then. Where not, the functions
 * below tell what is to be done. Older descriptors have no such checks. */
static inline int cf__in_order(const cf_kernel *kernel, void *const args[], cf_size *size)
{
    return kernel && kernel->version == CF_REGISTRY_VERSION &&
           kernel->size >= offsetof(cf_kernel, sizes) + sizeof kernel->sizes && kernel->sizes && args &&
           kernel->sizes(args, size);
}

/* Checks the descriptor, the scalars, and NULL against the extents. */
int cf__check_arguments(const cf_kernel *kernel, void *const args[]);

/* The most threads of a block on any device. */
#define CF__MAX_BLOCK 1024

/* Grid and block of a launch, checked against the limits. */
struct cf__size {
    uint32_t grid[CF_GRID_DIMS], block[CF_GRID_DIMS];
    int shared;                /* bytes of dynamic shared memory */
    int is_empty;              /* there is nothing to launch */
    struct cf__loaded *loaded; /* the kernel, where its block had to be asked for; else NULL */
};
int cf__size(const cf_kernel *kernel, const struct cf__place *place, void *const args[], struct cf__size *size);

/* Enqueues a kernel whose arguments were checked; supplies its scratch memory. */
int cf__launch(const cf_kernel *kernel, const struct cf__size *size, const struct cf__place *place, cf_stream stream,
               void *const args[]);

/* ---- call.c ---- */

/* A pointer argument, checked against the memory it lies in. */
struct cf__pointer {
    void *usable;               /* its address on the device; the argument as it is where `is_staged` is set */
    int is_staged;              /* host memory that the device cannot reach */
    struct cf__section section; /* of an array */
};

/* For a kernel that runs at `place`, on device number `device`. */
int cf__check_pointer(const cf_kernel *kernel, uint32_t i, void *const args[], const struct cf__place *place,
                      int device, struct cf__pointer *pointer);

/* ---- range.c ---- */

#define CF__NONE INT64_MAX /* no element: no array has as many */

/* A check of an array's elements in one call. */
struct cf__range {
    const cf_kernel *kernel;
    const cf_check *check;
    void *const *args;
    const struct cf__section *section;
    struct cf__rows rows;
    size_t element;    /* bytes of one */
    const char *first; /* the first one, where it is looked at */
    int is_host;       /* the CPU looks */
    /* The bounds as the elements' type has them, both included. Narrow types read the low bytes, which stand first on
     * every machine that CUDA runs on. */
    uint64_t lower, upper;
    int is_none;            /* no value is inside */
    uint64_t found;         /* the first element outside, counted row by row; CF__NONE; atomic */
    struct cf__range *next; /* of the same array */
};

/* Evaluates the bounds; the caller sets where the elements are, and looks at none where the section is empty. */
int cf__range_begin(struct cf__range *range, const cf_kernel *kernel, const cf_check *check, void *const args[],
                    const struct cf__section *section);

/* Looks at `count` elements, of which the first is element number `number` of the section; from any thread. */
void cf__range_look(struct cf__range *range, const void *elements, uint64_t number, uint64_t count);

/* Looks at all of them in host memory. */
void cf__range_search(struct cf__range *range);

/* Looks at those of all ranges that the CPU does not look at; ends with the first one that has an element outside. */
int cf__range_search_device(struct cf__range ranges[], size_t count, const struct cf__place *place);

/* CF_ERANGE, with the element that was found. */
int cf__range_report(const struct cf__range *range, const struct cf__place *place);

/* ---- stage.c ---- */

/* An array on its way between host memory and a device, where its elements lie alike. */
struct cf__part {
    const char *name;   /* that messages have */
    char *host;         /* its first element */
    CUdeviceptr device; /* likewise */
    struct cf__rows rows;
    size_t bytes;             /* of its elements */
    struct cf__range *ranges; /* that are looked at on the way in */
    size_t begin;             /* in the queue; written by stage.c */
};

/* A set of buffers with a stream, of one call at a time. Begin waits for one; `function` is what messages name. */
struct cf__stage;
int cf__stage_begin(const struct cf__place *place, const char *function, struct cf__stage **stage);
void cf__stage_end(struct cf__stage *stage);
CUstream cf__stage_stream(const struct cf__stage *stage);

/* Whether so many bytes go faster through such a set. */
int cf__stage_is_worth(size_t bytes);

/* Moves arrays to the device, in the order of the set's stream and with a look at their ranges: where an element is
 * outside not all need be moved, but all elements were looked at that come before it, those of other ranges too. Parts
 * with ranges stand first. Or moves them back, and is complete when it returns. In flow.c. */
int cf__stage_move(const struct cf__place *place, struct cf__stage *stage, const char *function,
                   struct cf__part parts[], size_t count, int to_host);

/* Let the default stream wait for the set's, and the reverse; `call` is what failed. Wait for what the latter waits for. */
CUresult cf__stage_before(const struct cf__place *place, struct cf__stage *stage, const char **call);
CUresult cf__stage_after(const struct cf__place *place, struct cf__stage *stage, const char **call);
CUresult cf__stage_wait(const struct cf__place *place, struct cf__stage *stage);

/* Copies between pageable host memory and memory of the place's device, behind what the default stream holds; complete
 * when it returns. */
int cf__stage_copy(const struct cf__place *place, const char *function, void *device, void *host, size_t bytes,
                   int to_host);

/* Pinned memory that searches of a call write to, which the device reaches at the same address. */
#define CF__CELLS 512
int cf__cells_take(const struct cf__place *place, const char *function, uint64_t **cells);
void cf__cells_give(uint64_t *cells);

/* Whether the place's device reaches pageable host memory by itself. */
int cf__reaches_pageable(const struct cf__place *place, int device, int *reaches);

/* For cf__keep(). */
CUresult cf__free_memory(const struct cf__driver *driver, uintptr_t memory);
CUresult cf__free_pinned(const struct cf__driver *driver, uintptr_t memory);

/* Frees what the driver gave, or keeps it for cf_shutdown(); 0 is fine. */
void cf__give_back(const struct cf__place *place, CUresult (*free_it)(const struct cf__driver *, uintptr_t),
                   uintptr_t what);

/* Frees what a context has: `place` is entered in it, or NULL where the context is gone. */
void cf__stages_free(struct cf__context *context, const struct cf__place *place);
void cf__stage_lock(void); /* for fork */
void cf__stage_unlock(void);

/* ---- machine.c ---- */

/* What the machine can do, in seconds and per second: name, value where nothing can be measured, limits. Those of the pool
 * are of all its threads; where nothing can be measured, so many times that of one thread. */
#define CF__MACHINE_LIST(X)              \
    X(stage_latency, 4e-5, 2e-5, 1e-3)   \
    X(host_to_device, 2e10, 1e9, 1e12)   \
    X(device_to_host, 2e10, 1e9, 1e12)   \
    X(pool_latency, 2e-5, 1e-6, 1e-3)    \
    X(thread_bandwidth, 1e10, 4e9, 1e12) \
    X(thread_flops, 4e9, 1e9, 1e12)      \
    X(thread_random, 5e7, 1e7, 1e10)     \
    X(pool_bandwidth, 1e10, 4e9, 1e14)   \
    X(pool_flops, 4e9, 1e9, 1e15)        \
    X(pool_random, 5e7, 1e7, 1e12)

struct cf__machine {
#define CF__MACHINE_FIELD(name, usual, least, most) double name;
    CF__MACHINE_LIST(CF__MACHINE_FIELD)
#undef CF__MACHINE_FIELD
};

enum cf__constants { CF__CONSTANTS_ANY, CF__CONSTANTS_MEASURED, CF__CONSTANTS_DEFAULT };

/* The constants of the place's device and this CPU, measured where no file has them; and where they are from. */
int cf__machine(const struct cf__place *place, struct cf__machine *machine, enum cf__constants *constants);

/* The values that they may have, at their worst and at their best. */
void cf__machine_limits(struct cf__machine *slowest, struct cf__machine *fastest);

void cf__machine_forget(void); /* at cf_shutdown() */
void cf__machine_lock(void);   /* for fork */
void cf__machine_unlock(void);

/* ---- plan.c ---- */

/* Where a call ran, what was copied, and why. */
struct cf__plan {
    char function[128];
    enum { CF__PLAN_FAILED, CF__PLAN_NOTHING, CF__PLAN_HOST, CF__PLAN_CPU, CF__PLAN_DEVICE } where;
    enum {
        CF__PLAN_MIXED,
        CF__PLAN_NO_BODY,
        CF__PLAN_NOT_CLOSED,
        CF__PLAN_ASKED,
        CF__PLAN_UNKNOWN,
        CF__PLAN_FORMULA
    } why; /* where arrays are staged, or could have been */
    int device;
    size_t in, out;            /* bytes that were copied, or would have been */
    unsigned staged, in_place; /* arrays */
    enum cf__constants constants;
    double stage_time, cpu_time; /* expected, in seconds; with CF__CONSTANTS_ANY not worked out */
};

/* That of the calling thread, begun anew. */
struct cf__plan *cf__plan_begin(const cf_kernel *kernel);

/* What staging would move, and elements that are taken for indices. */
struct cf__moves {
    const cf_kernel *kernel;
    const struct cf__size *size;
    size_t in, out;
    uint64_t indices;
};

/* Whether a call whose arrays could all be staged runs on the CPU. */
int cf__plan_decide(const struct cf__moves *moves, void *const args[], const struct cf__place *place,
                    struct cf__plan *plan, int *is_on_cpu);

int cf__plan_configure(void);  /* reads CF_HOST_DATA; before the first use */
int cf__checks_elements(void); /* as cf_set_check() has it */

/* ---- symbol.c ---- */

/* Its bytes; CF_EOVERFLOW where they are too many. */
int cf__symbol_size(const cf_symbol *symbol, size_t *bytes);

/* ---- pool.c ---- */

/* Reads how many threads are wanted; before the first run. */
int cf__pool_configure(void);

/* The same, where that was not done since the pool last stopped. */
int cf__pool_ready(void);

/* How many threads run a job, the one that has it included. */
int cf__pool_size(void);

/* Calls `body` for all of `count` pieces, in chunks of `chunk` but the last, on the worker threads and the calling one;
 * returns when they are done. Chunks are begun in order. */
typedef void cf__pool_body(void *data, uint64_t begin, uint64_t end);
void cf__pool_for(cf__pool_body *body, void *data, uint64_t count, uint64_t chunk);

/* Whether the calling thread runs a launch alone, since waking others takes longer. */
int cf__pool_is_small(uint64_t blocks, uint64_t block_threads);

/* Runs all blocks of a launch on the worker threads and the calling one; returns when they are done. */
void cf__pool_run(cf_host_body *body, const cf_host_launch *launch);

void cf__pool_stop(void); /* ends the worker threads; a later run starts them anew */

/* For fork: the pool's lock, and with it held in a child, that the workers do not exist there. */
void cf__pool_lock(void);
void cf__pool_unlock(void);
void cf__pool_forget(void);

#endif
