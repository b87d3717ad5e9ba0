/* staged.c - a plain call on a GPU with arrays that it does not reach: their copies there and back. */
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/run_staged.h"

#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "staging/buffers.h"
#include "staging/transfer.h"
#include "memory/mempool.h"
#include "kernel/pointer.h"
#include "kernel/section.h"
#include "call/chunk.h"
#include "call/steps.h"

/* ---- Staging ---- */

static int driver_failure(const struct cf__call *call, CUresult result, const char *function, uint32_t i)
{
    return cf__fail_driver(call->scope->driver, result, function, "%s: staging %s", call->kernel->function,
                           call->kernel->params[i].name);
}

static cf_stream copy_stream(const struct cf__call *call)
{
    return call->stage ? call->stage->stream : NULL;
}

/* What cuMemAlloc() aligns to, which kernels that read several elements at once may count on. */
#define ALIGNMENT 256

/* The copy holds what the section spans, and the kernel gets a pointer from which the indices are the same: it is as
 * aligned as if the copy held what lies before the section, too. */
static int allocate(struct cf__call *call)
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < call->kernel->nparams; i++) {
        struct cf__argument *argument = &call->arguments[i];
        const struct cf__section *section = &argument->pointer.section;
        if (!argument->is_copied)
            continue;
        size_t before = section->offset % ALIGNMENT;
        const char *function;
        CUresult result =
            cf__mempool_alloc_async(call->scope, copy_stream(call), before + section->span, &argument->copy, &function);
        if (result != CUDA_SUCCESS) {
            argument->copy = 0;
            status = driver_failure(call, result, function, i);
        }
        argument->host = cf__forward(*(void *const *)call->given[i], section->offset);
        argument->device = (void *)(uintptr_t)(argument->copy + before);
        argument->pointer.usable = cf__backward(argument->device, section->offset);
    }
    return status;
}

static int release(struct cf__call *call, int status)
{
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        CUdeviceptr copy = call->arguments[i].copy;
        const char *function;
        if (!copy)
            continue;
        CUresult result = cf__mempool_free_async(call->scope, copy_stream(call), copy, &function);
        if (result != CUDA_SUCCESS) {
            cf__defer_free(call->scope->driver, call->scope->context, cf__free_memory, (uintptr_t)copy);
            if (status == CF_OK)
                status = driver_failure(call, result, function, i);
        }
    }
    return status;
}

/* Whether all of an array is copied at once in that direction. */
static int is_moved(const struct cf__call *call, uint32_t i, int to_host)
{
    return call->arguments[i].copy && call->kernel->params[i].direction != (to_host ? CF_IN : CF_OUT) &&
           !cf__is_chunked(call, i);
}

/* A few bytes, by the driver itself. */
static int copy_few(const struct cf__call *call, int to_host)
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < call->kernel->nparams; i++) {
        const struct cf__argument *argument = &call->arguments[i];
        const char *function;
        if (!is_moved(call, i, to_host))
            continue;
        CUresult result = cf__copy_section(call->scope, &argument->pointer.section, call->kernel->params[i].bytes,
                                           argument->host, argument->device, to_host, &function);
        if (result != CUDA_SUCCESS)
            status = driver_failure(call, result, function, i);
    }
    return status;
}

/* Many bytes, through the set. Arrays with ranges come first. */
static int copy_many(const struct cf__call *call, int to_host)
{
    size_t count = 0, checked = 0;
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        if (!is_moved(call, i, to_host))
            continue;
        cf__call_transfer(call, i, &call->transfers[count]);
        if (call->transfers[count].checks) {
            struct cf__transfer first = call->transfers[count];
            call->transfers[count] = call->transfers[checked];
            call->transfers[checked++] = first;
        }
        count++;
    }
    return cf__staging_transfer(call->scope, call->stage, call->kernel->function, call->transfers, count, to_host);
}

/* Elements are looked at on their way; or before anything is copied, where results come back before the last of them are
 * on it. */
static int stage_in(struct cf__call *call)
{
    const int is_looked_at_first = !call->stage || call->split.part;
    int status = is_looked_at_first ? cf__call_search_host(call, call->range_count) : CF_OK;
    if (status == CF_OK && is_looked_at_first)
        status = cf__call_report(call);
    if (status == CF_OK)
        status = allocate(call);
    if (status == CF_OK)
        status = (call->stage ? copy_many : copy_few)(call, 0);
    return status == CF_OK && !is_looked_at_first ? cf__call_report(call) : status;
}

/* ---- The kernel ---- */

/* Between what is copied in and what is copied out: the streams keep the order, and the threads that copy out are not
 * kept waiting for the kernel. */
static int launch_staged(struct cf__call *call)
{
    const char *function;
    CUresult result = cf__staging_precede_default(call->scope, call->stage, &function);
    if (result != CUDA_SUCCESS)
        return cf__call_failure(call, result, function);
    int status = cf__call_launch(call);
    if (status != CF_OK)
        return status;
    result = cf__staging_follow_default(call->scope, call->stage, &function);
    if (result == CUDA_SUCCESS) {
        function = "cuEventSynchronize";
        result = call->scope->driver->cuEventSynchronize(call->stage->kernel_done);
    }
    if (result == CUDA_SUCCESS) {
        cf__inflight_waited(call->scope, NULL);
        return CF_OK;
    }
    (void)call->scope->driver->cuStreamSynchronize(NULL); /* the kernel's memory is about to be freed */
    return cf__call_failure(call, result, function);
}

int cf__run_staged(struct cf__call *call)
{
    cf__call_relax(call);
    int status = cf__call_search_device(call);
    if (status == CF_OK && (cf__staging_is_worth(call->cost.in) || cf__staging_is_worth(call->cost.out)))
        status = cf__staging_acquire(call->scope, call->kernel->function, &call->stage);
    if (status != CF_OK)
        return status;
    status = stage_in(call);
    if (status == CF_OK)
        status = call->split.part ? cf__chunk_run(call)
                 : call->stage    ? launch_staged(call)
                                  : cf__call_wait(call, cf__call_launch(call));
    if (status == CF_OK)
        status = (call->stage ? copy_many : copy_few)(call, 1);
    status = release(call, status);
    if (call->stage)
        cf__staging_release(call->stage);
    return status;
}
