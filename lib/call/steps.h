/* steps.h - the state of a plain call, and steps that its paths share. */
#ifndef CF__STEPS_H
#define CF__STEPS_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/scope.h"
#include "kernel/pointer.h"
#include "call/plan.h"

struct cf__element_check;
struct cf__plan;
struct cf__staging_set;
struct cf__transfer;

/* A pointer argument of a plain call. */
struct cf__argument {
    struct cf__pointer pointer; /* `usable` is the address of the copy once the array is staged */
    int is_copied;              /* 1 for a staged array, and for a pinned array that a split call copies */
    void *host;                 /* first element of the caller's array, if is_copied */
    void *device;               /* first element of the copy */
    CUdeviceptr copy;           /* memory of the copy, which cf__run_staged() frees, or 0 */
};

/* The chunks of a call that is split along the extent of split(...). All but the last have the same length. */
struct cf__chunking {
    int64_t count, chunk_length;      /* number of elements in all and in a chunk; 0: the call is not split */
    int copies_pinned;                /* 1 if the settings request copies even of pinned arrays */
    int has_pinned;                   /* 1 if pinned arrays are copied */
    int64_t given;                    /* value of the split parameter in the launch of a chunk */
    cf_launch_size of_chunk, of_last; /* launch sizes of a chunk and of the last chunk */
};

/* State of a plain call, on the stack of cf_call(). */
struct cf__call {
    const cf_kernel *kernel;
    const struct cf__scope *scope;
    void *const *given;               /* the caller's arguments */
    struct cf__argument *arguments;   /* arguments, one for each parameter */
    void **args;                      /* arguments of the launch */
    struct cf__transfer *transfers;   /* room for one transfer for each parameter */
    struct cf__element_check *checks; /* room for each element check of the kernel */
    size_t check_count;
    int device; /* CF_HOST or the number of a GPU */
    cf_launch_size size;
    struct cf__copy_cost cost;
    struct cf__plan *plan;
    struct cf__staging_set *staging; /* buffers and stream for copies; NULL: copies use the default stream */
    struct cf__chunking split;
    int mode; /* capture mode of the thread before cf__call_relax() */
    int is_relaxed;
};

/* Relaxes the capture mode once, before driver calls that could invalidate a capture, such as waits. cf_call() restores
 * the mode. */
static inline void cf__call_relax(struct cf__call *call)
{
    if (!call->is_relaxed && !call->scope->driver->is_cpu)
        call->mode = cf__capture_relax(call->scope->driver);
    call->is_relaxed = 1;
}

/* Runs the CPU's checks among the first `end` checks, and stops at the first one that fails; cf__call_report() reports
 * that failure. Returns a status. */
int cf__call_search_host(const struct cf__call *call, size_t end);

/* Runs the device's checks. If one fails, also runs the CPU's checks that come before it, so that the first failure in
 * order is reported. Returns a status. */
int cf__call_search_device(struct cf__call *call);

/* Reports the first check that has found an invalid element, or returns CF_OK if none has. */
int cf__call_report(const struct cf__call *call);

/* Enqueues the kernel or operation on the default stream; returns a status. */
int cf__call_launch(struct cf__call *call);

/* Waits for the default stream if `status` is CF_OK; returns a status. */
int cf__call_wait(struct cf__call *call, int status);

/* Reports a failure of the driver function `function`; returns a status. */
int cf__call_failure(const struct cf__call *call, CUresult result, const char *function);

/* Fills the transfer of copied array `i`, and adds its element checks unless the call is split. */
void cf__call_transfer(const struct cf__call *call, uint32_t i, struct cf__transfer *transfer);

#endif
