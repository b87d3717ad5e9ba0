/* steps.c - steps that several ways of the plain call have in common. */
#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/steps.h"

#include "threads/pool.h"
#include "driver/driver.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "staging/transfer.h"
#include "kernel/launch.h"
#include "kernel/section.h"
#include "call/element_check.h"

/* ---- Ranges ---- */

int cf__call_report(const struct cf__call *call)
{
    for (size_t i = 0; i < call->range_count; i++)
        if (call->ranges[i].found != CF__NONE)
            return cf__element_check_report(&call->ranges[i], call->scope);
    return CF_OK;
}

int cf__call_search_host(const struct cf__call *call, size_t end)
{
    for (size_t i = 0; i < end; i++) {
        if (!call->ranges[i].is_cpu)
            continue;
        int status = cf__pool_ready();
        if (status != CF_OK)
            return status;
        cf__element_check_search(&call->ranges[i]);
        if (call->ranges[i].found != CF__NONE)
            break;
    }
    return CF_OK;
}

int cf__call_search_device(struct cf__call *call)
{
    size_t end = 0, first = 0;
    while (first < call->range_count && call->ranges[first].is_cpu)
        first++;
    if (first == call->range_count)
        return CF_OK;
    cf__call_relax(call);
    int status = cf__element_check_search_device(call->ranges, call->range_count, call->scope);
    if (status != CF_OK)
        return status;
    while (end < call->range_count && call->ranges[end].found == CF__NONE)
        end++;
    if (end < call->range_count)
        status = cf__call_search_host(call, end);
    return status == CF_OK ? cf__call_report(call) : status;
}

/* ---- The kernel ---- */

int cf__call_failure(const struct cf__call *call, CUresult result, const char *function)
{
    return cf__fail_driver(call->scope->driver, result, function, "%s", call->kernel->function);
}

/* Where a part of an operation failed, others may be at work, in memory that the caller has back, or that is given
 * back. */
int cf__call_launch(struct cf__call *call)
{
    int status = cf__launch(call->kernel, &call->size, call->scope, NULL, call->args);
    if (status != CF_OK && cf_kernel_is_operation(call->kernel)) {
        cf__call_relax(call);
        (void)call->scope->driver->cuStreamSynchronize(NULL);
    }
    return status;
}

/* For what was enqueued on the default stream. What can be done before the wait costs nothing: the GPU is at work. */
int cf__call_wait(struct cf__call *call, int status)
{
    if (status != CF_OK)
        return status;
    cf__call_relax(call);
    CUresult result = call->scope->driver->cuStreamSynchronize(NULL);
    if (result != CUDA_SUCCESS)
        return cf__call_failure(call, result, "cuStreamSynchronize");
    cf__inflight_waited(call->scope, NULL);
    return CF_OK;
}

/* ---- Transfers ---- */

/* A cf__transfer_check: 0 once an element is outside its range. */
static int look_at_elements(void *checks, const void *elements, size_t begin, size_t bytes)
{
    int goes_on = 1;
    for (struct cf__element_check *range = checks; range; range = range->next) {
        cf__element_check_look(range, elements, begin / range->element, bytes / range->element);
        goes_on &= __atomic_load_n(&range->found, __ATOMIC_RELAXED) == CF__NONE;
    }
    return goes_on;
}

void cf__call_transfer(const struct cf__call *call, uint32_t i, struct cf__transfer *part)
{
    const struct cf__argument *argument = &call->arguments[i];
    const struct cf__section *section = &argument->pointer.section;
    *part = (struct cf__transfer){.name = call->kernel->params[i].name,
                                  .host = argument->host,
                                  .device = (uintptr_t)argument->device,
                                  .bytes = (size_t)section->count * call->kernel->params[i].bytes,
                                  .check = look_at_elements};
    cf__section_rows(section, call->kernel->params[i].bytes, &part->rows);
    if (call->split.part) /* elements have been looked at */
        return;
    for (size_t r = 0; r < call->range_count; r++)
        if (call->ranges[r].check->array == (int32_t)i) {
            call->ranges[r].next = part->checks;
            part->checks = &call->ranges[r];
        }
}
