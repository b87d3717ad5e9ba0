/* kernel.h - from a descriptor to a launch: expressions, sections, images, launches, symbols. */
#ifndef CF__KERNEL_H
#define CF__KERNEL_H

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "driver.h"
#include "storage.h"

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

/* What of a scratch array, whose section was worked out, is to be 0: bytes from the array's pointer on; there may be
 * none. */
int cf__zero(const cf_kernel *kernel, const cf_zero *zero, void *const args[], const struct cf__section *section,
             size_t *offset, size_t *bytes);

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

/* Copies a section between host memory and device memory, where it lies alike; both point to its first element. `call`
 * is what does it. */
CUresult cf__copy_section(const struct cf__place *place, const struct cf__section *section, size_t element, void *host,
                          void *device, int to_host, const char **call);

/* ---- image.c ---- */

/* What the plain call asks of a kernel's arrays, in one place: the descriptor's parts lie far apart, and each costs it
 * what a miss of the cache costs. */
struct cf__arrays {
    int8_t count;       /* -1: an array has several dimensions or a lower bound, an extent is worked out, or there are
                           more */
    uint8_t has_ranges; /* of elements */
    struct cf__one_dimension {
        uint8_t pointer, extent; /* the numbers of these parameters */
        uint16_t is_wide : 1;    /* the extent has 64 bits, not 32 */
        uint16_t apart : 4;      /* arrays before this one that must not overlap it, as bits */
        uint16_t in_place : 4;   /* of these, those that may begin where it does */
        uint16_t mask : 7;       /* bits of the pointer that are 0 */
        uint32_t bytes;          /* of an element */
    } arrays[5];
};

/* What runs in place of a kernel with tune(...): the numbers of its variants, by size class. All are atomic: where a
 * device refuses one, the first comes in its place. */
struct cf__choice {
    uint8_t is_uniform; /* they are all the same */
    uint8_t variants[CF_TUNING_CLASSES];
};

static inline unsigned int cf__chosen(const struct cf__choice *choice, int size_class)
{
    return __atomic_load_n(&choice->variants[size_class], __ATOMIC_RELAXED);
}

/* A kernel, or a symbol, as it is loaded in one context. It stays until cf_shutdown(), its descriptor need not. What a
 * launch needs stands first. */
struct cf__loaded {
    unsigned long long context; /* its id */
    CUfunction function;        /* of a kernel */
    struct cf__loaded *next;    /* of the same state */
    int is_simple;              /* of a kernel: a launch is a call of the driver and nothing else */
    int shared;                 /* bytes of dynamic shared memory that a launch may have; -1 until asked; atomic */
    int device;                 /* CF_HOST or a GPU's number */
    struct cf__arrays arrays;   /* of a kernel */
    int block;                  /* what block(auto) gives; 0 until asked; atomic */
    CUdeviceptr address;        /* of a symbol */
    struct cf__choice choice;   /* of a kernel that stands for its variants, which is all that it has */
    struct cf__context *owner;  /* what is kept of the context */
    cf_state *state;
    int is_in_object;         /* the state is part of the program or of a shared object, and goes with that */
    struct cf__loaded *after; /* of all that are loaded */
    char name[];              /* of its function, for messages */
};

/* What a state has for the context of that id; NULL where nothing is loaded there. Without a lock: nodes are only
 * added. */
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

/* Sees to it that a launch may have `bytes` of dynamic shared memory; the first gives the driver's result, for its
 * caller to judge, and the call. */
int cf__kernel_allow(const cf_kernel *kernel, const struct cf__place *place, struct cf__loaded *loaded, int bytes,
                     CUresult *result, const char **call);
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

static inline int cf__watches(int what)
{
    return __atomic_load_n(&cf__hot.watching, __ATOMIC_RELAXED) & what;
}

void cf__watch(int what, int is_on);

/* Checks a descriptor's version; messages call it `what`: kernel, symbol or module. */
int cf__check_descriptor(const char *what, uint32_t version);

/* The same of a kernel, for `function`; NULL is none. */
int cf__check_kernel(const char *function, const cf_kernel *kernel);

/* The kernel's descriptor has this library's version. */
static inline int cf__is_known(const cf_kernel *kernel)
{
    return kernel && kernel->version == CF_REGISTRY_VERSION;
}

/* The kernel stands for the variant that tuning.c chooses. */
static inline int cf__is_tuned(const cf_kernel *kernel)
{
    return cf__is_known(kernel) && kernel->nvariants && !kernel->nconstants;
}

/* The latest stream, no default one, that the calling thread enqueued on, and where it is. cuLaunchKernel() and
 * cuGraphLaunch() need no current context where the stream has one, and refuse what is of another context: so the
 * context alone has to be asked whether it is still the same, and a handle that another stream has by now is found out
 * by what the driver returns. */
struct cf__known {
    cf_stream stream; /* NULL: none */
    const struct cf__driver *driver;
    CUcontext context;
    unsigned long long id;
};
extern _Thread_local struct cf__known cf__known;

/* The driver of a stream that is known, as far as no driver is asked; NULL where the call has to go the long way. */
static inline const struct cf__driver *cf__known_driver(cf_stream stream)
{
    const struct cf__known *known = &cf__known;
    if (!stream || stream != known->stream || known->driver != cf__cuda_in_use() || cf__gpu_state() != CF__GPU_OURS ||
        cf__watches(-1))
        return NULL;
    return known->driver;
}

/* The same, and the id of its context. */
static inline const struct cf__driver *cf__known_stream(cf_stream stream, unsigned long long *id)
{
    const struct cf__driver *driver = cf__known_driver(stream);
    if (!driver || driver->cuCtxGetId(cf__known.context, id) != CUDA_SUCCESS || *id != cf__known.id)
        return NULL;
    return driver;
}

/* The driver where a call on the default stream runs in the thread's own current context, and that: NULL where it has
 * none, and the call runs on GPU 0. No driver where it has another device, or the call has to go the long way. */
static inline const struct cf__driver *cf__own_context(CUcontext *context)
{
    const struct cf__driver *driver = cf__cuda_in_use();
    if (!driver || cf__gpu_state() != CF__GPU_OURS || cf__watches(-1) || cf__has_device ||
        !__atomic_load_n(&cf__hot.is_cuda_default, __ATOMIC_ACQUIRE) ||
        driver->cuCtxGetCurrent(context) != CUDA_SUCCESS)
        return NULL;
    return driver;
}

/* The same, and the id of that context. */
static inline const struct cf__driver *cf__own_stream(unsigned long long *id)
{
    CUcontext context;
    const struct cf__driver *driver = cf__own_context(&context);
    return driver && context && driver->cuCtxGetId(context, id) == CUDA_SUCCESS ? driver : NULL;
}

static inline void cf__know_stream(cf_stream stream, const struct cf__place *place, unsigned long long id)
{
    if ((uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD && !place->driver->is_host)
        cf__known = (struct cf__known){stream, place->driver, place->context, id};
}

/* Whether what the driver returned may come of a handle that is another's by now, or has to be said with the context
 * that it is about: then the long way is gone, which finds out. */
int cf__is_unknown(CUresult result);

/* Whether the kernel's compiled checks find everything in order, and the size of the launch then. Where not, the
 * functions below tell what is to be done. */
static inline int cf__in_order(const cf_kernel *kernel, void *const args[], cf_size *size)
{
    return cf__is_known(kernel) && kernel->sizes && args && kernel->sizes(args, size);
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

/* Whether a launch is one call of the driver; this and what follows is for the short ways of cf_launch() and of the
 * plain call, too. */
static inline int cf__is_one_call(const struct cf__loaded *loaded, const cf_size *size)
{
    return loaded && loaded->is_simple &&
           (size->shared == 0 || (int)size->shared <= __atomic_load_n(&loaded->shared, __ATOMIC_ACQUIRE));
}

static inline struct cf__running *cf__note_kernel(const struct cf__loaded *loaded, cf_stream stream)
{
    return loaded->owner->driver->is_host ? NULL : cf__note_launch(loaded->owner, loaded->name, stream);
}

/* The launch that is nothing but a call of the driver. */
static inline CUresult cf__launch_once(const struct cf__driver *driver, const struct cf__loaded *loaded,
                                       const uint32_t grid[], const uint32_t block[], unsigned int shared,
                                       cf_stream stream, void *const args[])
{
    struct cf__running *running = cf__note_again(loaded->context, loaded->name, stream);
    if (__builtin_expect(!running, 0))
        running = cf__note_kernel(loaded, stream);
    CUresult result = driver->cuLaunchKernel(loaded->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                             shared, stream, (void **)(uintptr_t)args, NULL);
    cf__note_launched(running);
    return result;
}

/* ---- operation.c ---- */

/* The operation that the calling thread is enqueueing, and those around it; NULL: none. */
extern _Thread_local const struct cf__within {
    const cf_kernel *kernel;
    void *const *args;
    const struct cf__within *outer;
} *cf__within;

/* Whether `pointer` is that of an array without elements of an operation that the thread is in: launches may be given it
 * for a parameter that has no extent. */
int cf__operation_has_empty(const void *pointer);

/* Loads all that an operation enqueues; refuses what cannot be enqueued here. */
int cf__operation_ready(const cf_kernel *kernel, const struct cf__place *place, struct cf__loaded **loaded);

/* Enqueues what an operation is made of; it is ready, its arguments were checked, and scratch memory is among them. */
int cf__operate(const cf_kernel *kernel, const struct cf__place *place, struct cf__loaded *loaded, cf_stream stream,
                void *const args[]);

/* ---- preload.c ---- */

/* All that launches of a kernel or an operation run: what that uses, and variants that may be chosen. */
int cf__load_all(const cf_kernel *kernel, const struct cf__place *place, struct cf__loaded **loaded);

/* ---- scratch.c ---- */

/* What a launch needs beside its arguments. */
struct cf__scratch {
    struct cf__scratch_array {
        CUdeviceptr memory;
        size_t bytes;
    } * arrays;             /* of each parameter; zeros where it is none */
    void **args;            /* the launch's arguments, with them */
    void *block;            /* that both lie in; NULL: below */
    struct cf__taken taken; /* that all memory is in; none: each is allocated */
    int is_captured;
    int is_rezeroed;       /* the kernel leaves 0 in all of it */
#define CF__SCRATCH_FEW 16 /* what most kernels have: these need no allocation */
    struct cf__scratch_array few_arrays[CF__SCRATCH_FEW];
    void *few_args[CF__SCRATCH_FEW];
};

/* In front of the launch, which is enqueued next, in the context of that id: supplies the memory, and has it cleared.
 * And behind the launch, of that status, unless that failed: the memory is the next one's. */
int cf__scratch_begin(const cf_kernel *kernel, const struct cf__place *place, unsigned long long context,
                      cf_stream stream, void *const args[], struct cf__scratch *scratch);
int cf__scratch_end(const cf_kernel *kernel, const struct cf__place *place, cf_stream stream,
                    const struct cf__scratch *scratch, int status);

/* Where an array is that is to be 0, by its parameter; 0: nowhere, and it is passed over. */
struct cf__spot {
    CUdeviceptr array;
    int is_host; /* the CPU sets it, at once */
};
typedef struct cf__spot cf__spot_of(const void *data, uint32_t i, const cf_param *param);

/* Sets to 0 all that is to be so. And of a launch without threads: the results, but those that are NULL. */
int cf__clear(const cf_kernel *kernel, const struct cf__place *place, cf_stream stream, void *const args[],
              cf__spot_of *spot_of, const void *data);
int cf__clear_results(const cf_kernel *kernel, const struct cf__place *place, cf_stream stream, void *const args[]);

/* What of an array is to be 0: bytes from the array's pointer on; there may be none. */
int cf__zero_of(const cf_kernel *kernel, const cf_zero *zero, void *const args[], size_t *offset, size_t *bytes);

/* ---- symbol.c ---- */

/* Its bytes; CF_EOVERFLOW where they are too many. */
int cf__symbol_size(const cf_symbol *symbol, size_t *bytes);

#endif
