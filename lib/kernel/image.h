/* image.h - kernels and symbols as they are loaded. */
#ifndef CF__IMAGE_H
#define CF__IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "driver/driver.h"
#include "context/enter.h"
#include "kernel/array_table.h"
#include "kernel/tuning.h"

struct cf__context;
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

/* The kernel as it is loaded in the scope's context; NULL where it is not. */
static inline struct cf__loaded *cf__kernel_loaded(const cf_kernel *kernel, const struct cf__scope *scope)
{
    unsigned long long id;
    return scope->driver->cuCtxGetId(scope->context, &id) == CUDA_SUCCESS ? cf__loaded_in(kernel->state, id) : NULL;
}

/* The kernel as the scope's driver launches it; loaded at its first use in a context. */
int cf__kernel_load(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded);

/* The block of a block(auto). */
int cf__kernel_block(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int *block);

/* Sees to it that a launch may have `bytes` of dynamic shared memory; the first gives the driver's result, for its
 * caller to judge, and the call. */
int cf__kernel_allow(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int bytes,
                     CUresult *result, const char **call);
int cf__kernel_share(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, int bytes,
                     void *const args[]);

/* A symbol on a GPU, likewise. */
int cf__symbol_load(const cf_symbol *symbol, const struct cf__scope *scope, struct cf__loaded **loaded);

/* Every image, of a driver that is still in use, or NULL; the status of the latest that fails and stays. */
int cf__images_unload(const struct cf__driver *cuda);
void cf__images_drop(unsigned long long context); /* what was found in a context that is gone */
void cf__image_lock(void);                        /* of loading, for fork */
void cf__image_unlock(void);

#endif
