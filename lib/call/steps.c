/* steps.c - steps that several paths of the plain call share. */
#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/steps.h"

#include "model/section.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "staging/transfer.h"
#include "kernel/launch.h"
#include "call/element_check.h"

/* ---- Checks of elements ---- */

int cf__call_report(const struct cf__call *call)
{
    for (size_t i = 0; i < call->check_count; i++)
        if (call->checks[i].found != CF__NO_ELEMENT)
            return cf__element_check_report(&call->checks[i], call->scope);
    return CF_OK;
}

int cf__call_search_host(const struct cf__call *call, size_t end)
{
    for (size_t i = 0; i < end; i++) {
        if (!call->checks[i].is_cpu)
            continue;
        int status = cf__pool_ready();
        if (status != CF_OK)
            return status;
        cf__element_check_search(&call->checks[i]);
        if (call->checks[i].found != CF__NO_ELEMENT)
            break;
    }
    return CF_OK;
}

int cf__call_search_device(struct cf__call *call)
{
    size_t end = 0, first = 0;
    while (first < call->check_count && call->checks[first].is_cpu)
        first++;
    if (first == call->check_count)
        return CF_OK;
    cf__call_relax(call);
    int status = cf__element_check_search_device(call->checks, call->check_count, call->scope);
    if (status != CF_OK)
        return status;
    while (end < call->check_count && call->checks[end].found == CF__NO_ELEMENT)
        end++;
    if (end < call->check_count)
        status = cf__call_search_host(call, end);
    return status == CF_OK ? cf__call_report(call) : status;
}

/* ---- The kernel ---- */

int cf__call_failure(const struct cf__call *call, CUresult result, const char *function)
{
    return cf__fail_driver(call->scope->driver, result, function, "%s", call->kernel->function);
}

/* After a failure within an operation, waits, because earlier launches may still use memory that the caller or the
 * library is about to free. */
int cf__call_launch(struct cf__call *call)
{
    int status = cf__launch(call->kernel, &call->size, call->scope, NULL, call->args);
    if (status != CF_OK && cf_kernel_is_operation(call->kernel)) {
        cf__call_relax(call);
        (void)call->scope->driver->cuStreamSynchronize(NULL);
    }
    return status;
}

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

/* Implements cf__transfer_check. Returns 0 once a check has found an invalid element, so that the array's later
 * elements are skipped. */
static int look_at_elements(void *checks, const void *elements, size_t begin, size_t bytes)
{
    int goes_on = 1;
    for (struct cf__element_check *check = checks; check; check = check->next) {
        cf__element_check_look(check, elements, begin / check->element, bytes / check->element);
        goes_on &= __atomic_load_n(&check->found, __ATOMIC_RELAXED) == CF__NO_ELEMENT;
    }
    return goes_on;
}

void cf__call_transfer(const struct cf__call *call, uint32_t i, struct cf__transfer *transfer)
{
    const struct cf__argument *argument = &call->arguments[i];
    const cf_section *section = &argument->pointer.section;
    *transfer = (struct cf__transfer){.name = call->kernel->params[i].name,
                                      .host = argument->host,
                                      .device = (uintptr_t)argument->device,
                                      .bytes = (size_t)section->count * call->kernel->params[i].bytes,
                                      .check = look_at_elements};
    cf__section_rows(section, call->kernel->params[i].bytes, &transfer->rows);
    if (call->split.chunk_length) /* stage_in() has checked the elements */
        return;
    for (size_t r = 0; r < call->check_count; r++)
        if (call->checks[r].declared->array == (int32_t)i) {
            call->checks[r].next = transfer->checks;
            transfer->checks = &call->checks[r];
        }
}
