/* image.h - loads images, and looks up kernels and symbols in them for each context. */
#ifndef CF__IMAGE_H
#define CF__IMAGE_H

#include <stddef.h>

#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "model/array_table.h"
#include "driver/driver.h"
#include "context/scope.h"
#include "kernel/tuning.h"

struct cf__context;

/* A kernel or a symbol in one context. The node exists until cf_shutdown(), even if dlclose() unmaps its descriptor.
 * The fields of the fast path come first. */
struct cf__loaded {
    unsigned long long context;   /* id of the context; CF__NO_CONTEXT: unused node; atomic */
    CUfunction function;          /* function handle; kernels only */
    struct cf__loaded *next;      /* next node of the same state */
    int is_simple;                /* 1 if a launch of the kernel is a single cuLaunchKernel() */
    int is_dependent;             /* 1 if kernel and device allow a launch to begin before the previous one ends */
    int shared;                   /* limit of dynamic shared memory in bytes; -1: unknown; atomic */
    int device;                   /* CF_HOST or the number of a GPU */
    struct cf__array_table table; /* table of arrays; kernels only */
    int block;                    /* number of threads of block(auto); 0: unknown; atomic */
    CUdeviceptr address;          /* address on the device; symbols only */
    struct cf__choice choice;     /* chosen variants; tuned kernels only, which use no other field */
    struct cf__context *owner;    /* record of the context */
    cf_state *state;              /* state; NULL: retired */
    int is_in_object;             /* 1 if the state is data of the program or of a shared object */
    struct cf__loaded *next_of_all;
    char name[]; /* name of the entry point, for error messages */
};

/* Returns 1 if a launch passes attributes to cuLaunchKernelEx(). */
static inline int cf__launch_has_attributes(const cf_kernel *kernel, const struct cf__loaded *loaded)
{
    return kernel->launch.is_cooperative || kernel->launch.passes_cluster || loaded->is_dependent;
}

/* Finds the node of a state for a context id, or NULL if nothing is loaded there. Needs no lock, because nodes are only
 * added. */
static inline struct cf__loaded *cf__loaded_in(const cf_state *state, unsigned long long context)
{
    struct cf__loaded *node = __atomic_load_n(&state->loaded, __ATOMIC_ACQUIRE);
    while (node && __atomic_load_n(&node->context, __ATOMIC_ACQUIRE) != context)
        node = node->next;
    return node;
}

/* Finds the node of a kernel for the scope's context, or NULL if the kernel is not loaded there. */
static inline struct cf__loaded *cf__kernel_loaded(const cf_kernel *kernel, const struct cf__scope *scope)
{
    unsigned long long id;
    return scope->driver->cuCtxGetId(scope->context, &id) == CUDA_SUCCESS ? cf__loaded_in(kernel->state, id) : NULL;
}

/* Loads a kernel at its first use in the scope's context. Returns a status and the node, which the library owns. */
int cf__kernel_load(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded);

/* Queries the number of threads of block(auto) from the driver, once; returns a status. */
int cf__kernel_auto_block(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded,
                          int *block);

/* Allows launches with `bytes` of dynamic shared memory. Stores the driver's result and the name of the driver
 * function, which the caller evaluates; the returned status is for other failures. */
int cf__kernel_try_shared(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int bytes,
                          CUresult *result, const char **call);

/* Allows launches with `bytes` of dynamic shared memory. Reports a failure with the text of shared(...), and returns a
 * status. */
int cf__kernel_set_shared(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int bytes,
                          void *const args[]);

/* Looks up a symbol on a GPU at its first use in the scope's context. */
int cf__symbol_load(const cf_symbol *symbol, const struct cf__scope *scope, struct cf__loaded **loaded);

/* Loads an image before its first kernel. The driver's compiler writes its messages to `log`, of `size` bytes, unless
 * it is NULL. */
int cf__image_load(const char *function, const cf_image *image, const struct cf__scope *scope, char *log, size_t size);

/* Unloads one image, and the other images of the shared object that contains its state; `cuda` is as for
 * cf__images_unload(). The caller holds the lock. Nodes of their kernels stay in their states. */
int cf__image_unload(const char *function, const struct cf__driver *cuda, const cf_image *image);

/* Detaches the nodes from a state whose memory will be freed. The caller holds the lock. */
void cf__state_retire(cf_state *state);

/* Detaches the nodes from all states of the shared object that contains `state`, before dlclose(). */
void cf__object_retire(const cf_state *state);

/* Unloads all images at cf_shutdown(); `cuda` is NULL if that driver is no longer in use. Returns the latest
 * failure. */
int cf__images_unload(const struct cf__driver *cuda);

void cf__images_drop(unsigned long long context); /* drops the nodes of a context that is gone */
void cf__image_lock(void);                        /* for fork handlers */
void cf__image_unlock(void);

#endif
