/* run_staged.c - runs a plain call on a GPU with copies of the arrays that the GPU cannot access. */
#include <stdint.h>

#include <cuferry.h>

#include "call/run_staged.h"

#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "staging/buffers.h"
#include "staging/transfer.h"
#include "memory/copy.h"
#include "memory/mempool.h"
#include "kernel/pointer.h"
#include "call/chunk.h"
#include "call/steps.h"

/* ---- Staging ---- */

static int fail_array(const struct cf__call *call, CUresult result, const char *function, uint32_t i)
{
    return cf__fail_driver(call->scope->driver, result, function, "%s: staging %s", call->kernel->function,
                           call->kernel->params[i].name);
}

static cf_stream get_copy_stream(const struct cf__call *call)
{
    return call->staging ? call->staging->stream : NULL;
}

#define ALIGNMENT 256 /* bytes, as for cuMemAlloc(); kernels rely on it for vector loads */

/* A copy holds only the section. The kernel gets a pointer that is valid for the same indices, and as aligned as if the
 * copy began at the array's pointer. */
static int allocate_copies(struct cf__call *call)
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < call->kernel->nparams; i++) {
        struct cf__argument *argument = &call->arguments[i];
        const cf_section *section = &argument->pointer.section;
        if (!argument->is_copied)
            continue;
        size_t gap = section->offset % ALIGNMENT;
        const char *function;
        CUresult result = cf__mempool_alloc_async(call->scope, get_copy_stream(call), gap + section->span,
                                                  &argument->copy, &function);
        if (result != CUDA_SUCCESS) {
            argument->copy = 0;
            status = fail_array(call, result, function, i);
        }
        argument->host = cf__forward(*(void *const *)call->given[i], section->offset);
        argument->device = (void *)(uintptr_t)(argument->copy + gap);
        argument->pointer.usable = cf__backward(argument->device, section->offset);
    }
    return status;
}

static int free_copies(struct cf__call *call, int status)
{
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        CUdeviceptr copy = call->arguments[i].copy;
        const char *function;
        if (!copy)
            continue;
        CUresult result = cf__mempool_free_async(call->scope, get_copy_stream(call), copy, &function);
        if (result != CUDA_SUCCESS) {
            cf__defer_free(call->scope->driver, call->scope->context, cf__free_memory, (uintptr_t)copy);
            if (status == CF_OK)
                status = fail_array(call, result, function, i);
        }
    }
    return status;
}

/* Returns 1 if an array is copied in that direction, but not chunk by chunk. */
static int is_copied(const struct cf__call *call, uint32_t i, int to_host)
{
    return call->arguments[i].copy && call->kernel->params[i].direction != (to_host ? CF_IN : CF_OUT) &&
           !cf__chunk_copies(call, i);
}

/* Copies a small amount with the driver's own functions. */
static int copy_few(const struct cf__call *call, int to_host)
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < call->kernel->nparams; i++) {
        const struct cf__argument *argument = &call->arguments[i];
        const char *function;
        if (!is_copied(call, i, to_host))
            continue;
        CUresult result = cf__copy_section(call->scope, &argument->pointer.section, call->kernel->params[i].bytes,
                                           argument->host, argument->device, to_host, &function);
        if (result != CUDA_SUCCESS)
            status = fail_array(call, result, function, i);
    }
    return status;
}

/* Copies a large amount through pinned buffers. Arrays with checks of elements come first. */
static int copy_many(const struct cf__call *call, int to_host)
{
    size_t count = 0, checked = 0;
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        if (!is_copied(call, i, to_host))
            continue;
        cf__call_transfer(call, i, &call->transfers[count]);
        if (call->transfers[count].checks) {
            struct cf__transfer first = call->transfers[count];
            call->transfers[count] = call->transfers[checked];
            call->transfers[checked++] = first;
        }
        count++;
    }
    return cf__staging_transfer(call->scope, call->staging, call->kernel->function, call->transfers, count, to_host);
}

/* Elements are checked while they pass through the buffers. A split call copies its first results out before the last
 * elements pass, so it checks all elements first. */
static int stage_in(struct cf__call *call)
{
    const int is_checked_first = !call->staging || call->split.chunk_length;
    int status = is_checked_first ? cf__call_search_host(call, call->check_count) : CF_OK;
    if (status == CF_OK && is_checked_first)
        status = cf__call_report(call);
    if (status == CF_OK)
        status = allocate_copies(call);
    if (status == CF_OK)
        status = (call->staging ? copy_many : copy_few)(call, 0);
    return status == CF_OK && !is_checked_first ? cf__call_report(call) : status;
}

/* ---- The kernel ---- */

/* Launches between the copies in and out. Events order the streams. This thread waits for the kernel, so that the
 * threads that copy out need not. */
static int launch_staged(struct cf__call *call)
{
    const char *function;
    CUresult result = cf__staging_precede_default(call->scope, call->staging, &function);
    if (result != CUDA_SUCCESS)
        return cf__call_failure(call, result, function);
    int status = cf__call_launch(call);
    if (status != CF_OK)
        return status;
    result = cf__staging_follow_default(call->scope, call->staging, &function);
    if (result == CUDA_SUCCESS) {
        function = "cuEventSynchronize";
        result = call->scope->driver->cuEventSynchronize(call->staging->kernel_done);
    }
    if (result == CUDA_SUCCESS) {
        cf__inflight_waited(call->scope, NULL);
        return CF_OK;
    }
    (void)call->scope->driver->cuStreamSynchronize(NULL); /* the caller is about to free the kernel's memory */
    return cf__call_failure(call, result, function);
}

int cf__run_staged(struct cf__call *call)
{
    cf__call_relax(call);
    int status = cf__call_search_device(call);
    if (status == CF_OK && (cf__staging_is_worth(call->cost.in) || cf__staging_is_worth(call->cost.out)))
        status = cf__staging_acquire(call->scope, call->kernel->function, &call->staging);
    if (status != CF_OK)
        return status;
    status = stage_in(call);
    if (status == CF_OK)
        status = call->split.chunk_length ? cf__chunk_run(call)
                 : call->staging          ? launch_staged(call)
                                          : cf__call_wait(call, cf__call_launch(call));
    if (status == CF_OK)
        status = (call->staging ? copy_many : copy_few)(call, 1);
    status = free_copies(call, status);
    if (call->staging)
        cf__staging_release(call->staging);
    return status;
}
