/* steps.h - a plain call, and steps that its ways have in common. */
#ifndef CF__STEPS_H
#define CF__STEPS_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "kernel/arguments.h"
#include "kernel/pointer.h"
#include "call/plan.h"

struct cf__element_check;
struct cf__plan;
struct cf__staging_set;
struct cf__transfer;

/* An argument as the kernel gets it. */
struct cf__argument {
    struct cf__pointer pointer; /* as the kernel gets it, once it is staged */
    int is_copied;              /* it is staged, or pinned memory of a call that is split */
    void *host;                 /* first element of the array that is copied */
    void *device;               /* first element of the copy */
    CUdeviceptr copy;           /* its memory, ours to free */
};

/* How a call is split: into parts of as many elements, but for the last, as the kernel's split(...) counts them. */
struct cf__chunking {
    int64_t count, part; /* all elements, and those of a part; 0: the call is not split */
    int copies_pinned;   /* as the settings have it at the call's begin */
    int has_pinned;      /* pinned arrays are copied */
    int64_t given;       /* what the kernel is given for the parameter that counts them */
    struct cf__grid of_part, of_last;
};

struct cf__call {
    const cf_kernel *kernel;
    const struct cf__scope *scope;
    void *const *given;               /* the caller's arguments */
    struct cf__argument *arguments;   /* one a parameter */
    void **args;                      /* what the kernel is launched with */
    struct cf__transfer *transfers;   /* room for one a parameter */
    struct cf__element_check *ranges; /* room for one a check */
    size_t range_count;
    int device;
    struct cf__grid size;
    struct cf__copy_cost cost;
    struct cf__plan *plan;
    struct cf__staging_set *stage; /* that copies go through; NULL: the default stream */
    struct cf__chunking split;     /* where it is split */
    int mode;                      /* that the thread captures in, once `is_relaxed` */
    int is_relaxed;
};

/* Before what could break a capture: allocating and waiting. */
static inline void cf__call_relax(struct cf__call *call)
{
    if (!call->is_relaxed && !call->scope->driver->is_cpu)
        call->mode = cf__relax(call->scope->driver);
    call->is_relaxed = 1;
}

/* Looks at elements that the CPU reads, of ranges in front of number `end`; ends with the first one that has one
 * outside. */
int cf__call_search_host(const struct cf__call *call, size_t end);

/* Looks at elements on the device; where one is outside, at those too that come before it. */
int cf__call_search_device(struct cf__call *call);

/* Fails with the first range that has an element outside. */
int cf__call_report(const struct cf__call *call);

/* Enqueues the kernel, or the operation, on the default stream. */
int cf__call_launch(struct cf__call *call);

/* Waits for what was enqueued there with that status. */
int cf__call_wait(struct cf__call *call, int status);

int cf__call_failure(const struct cf__call *call, CUresult result, const char *function);

/* An array as it is moved. */
void cf__call_transfer(const struct cf__call *call, uint32_t i, struct cf__transfer *part);

#endif
