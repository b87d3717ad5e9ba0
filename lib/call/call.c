/* call.c - the plain call: checks arguments, stages host arrays, runs the kernel and waits. */
#include <stdint.h>
#include <stdlib.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "base/current_operation.h"
#include "base/error.h"
#include "base/fast.h"
#include "model/descriptor.h"
#include "model/overlap.h"
#include "model/size.h"
#include "driver/capture_mode.h"
#include "trace/ranges.h"
#include "trace/trace.h"
#include "context/enter.h"
#include "context/last_stream.h"
#include "stream/stream.h"
#include "staging/transfer.h"
#include "kernel/launch.h"
#include "kernel/pointer.h"
#include "kernel/scratch_args.h"
#include "kernel/variant.h"
#include "call/chunk.h"
#include "call/element_check.h"
#include "call/plan.h"
#include "call/run_resident.h"
#include "call/run_staged.h"
#include "call/steps.h"

/* ---- Pointers ---- */

/* Checks all pointers before the call has any effect. */
static int check_pointers(struct cf__call *call)
{
    const cf_kernel *kernel = call->kernel;
    struct cf__plan *plan = call->plan;
    struct cf__range_hint hint = {.size = 0};
    int status = cf__scope_device(call->scope, kernel->function, &call->device);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        struct cf__argument *argument = &call->arguments[i];
        cf_direction direction = kernel->params[i].direction;
        call->args[i] = call->given[i];
        argument->pointer.is_staged = argument->is_copied = 0;
        argument->copy = 0;
        if (direction == CF_VALUE || direction == CF_SCRATCH)
            continue;
        status = cf__check_pointer(kernel, i, call->given, call->scope, call->device, &hint, &argument->pointer);
        call->args[i] = &argument->pointer.usable;
        if (status != CF_OK || !argument->pointer.is_staged) {
            plan->in_place +=
                argument->pointer.usable && (!cf__is_array(&kernel->params[i]) || argument->pointer.section.count);
            continue;
        }
        argument->is_copied = 1;
        plan->staged++;
        cf__copy_cost_add(&call->cost, i, &argument->pointer.section);
    }
    return status;
}

/* ---- Checks of elements ---- */

/* Prepares the checks of non-empty arrays, in the order of the annotation. */
static int begin_checks(struct cf__call *call)
{
    const cf_kernel *kernel = call->kernel;
    int status = CF_OK;
    call->check_count = 0;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nchecks; i++) {
        const cf_check *check = &kernel->checks[i];
        if (check->array < 0)
            continue;
        const struct cf__pointer *array = &call->arguments[check->array].pointer;
        call->cost.indices += check->is_ascending ? 0 : (uint64_t)array->section.count;
        if (!cf__element_check_is_on())
            continue;
        struct cf__element_check *element_check = &call->checks[call->check_count];
        status = cf__element_check_begin(element_check, kernel, check, call->given, &array->section);
        if (status != CF_OK || array->section.count == 0)
            continue;
        element_check->first = cf__forward(array->usable, array->section.offset);
        element_check->is_cpu = call->scope->driver->is_cpu || array->is_staged;
        call->check_count++;
    }
    return status;
}

static int check_elements(struct cf__call *call)
{
    int status = cf__call_search_device(call);
    if (status == CF_OK)
        status = cf__call_search_host(call, call->check_count);
    return status == CF_OK ? cf__call_report(call) : status;
}

/* ---- The kernel ---- */

static int launch_and_wait(struct cf__call *call)
{
    return cf__call_wait(call, cf__call_launch(call));
}

static struct cf__zero_target find_zero_target(const void *data, uint32_t i, const cf_param *param)
{
    const struct cf__call *call = data;
    if (param->direction == CF_SCRATCH)
        return (struct cf__zero_target){0, 0};
    return (struct cf__zero_target){(uintptr_t)call->arguments[i].pointer.usable, call->arguments[i].pointer.is_staged};
}

/* Clears the zero(...) results of a call with an empty grid. The CPU clears arrays in host memory. */
static int clear_results(struct cf__call *call)
{
    return call->kernel->nzeros ? cf__call_wait(call, cf__clear_arrays(call->kernel, call->scope, NULL, call->given,
                                                                       find_zero_target, call))
                                : CF_OK;
}

/* Runs the kernel on the CPU with the caller's pointers, although the thread's device is a GPU. */
static int run_on_cpu(struct cf__call *call)
{
    struct cf__scope scope;
    int status = cf__enter_device(&scope, call->kernel->function, CF_HOST);
    if (status != CF_OK)
        return status;
    call->scope = &scope;
    status = cf__launch_choose_block(call->kernel, &scope, call->given, &call->size);
    if (status == CF_OK)
        status = check_elements(call);
    if (status == CF_OK)
        status = cf__launch(call->kernel, &call->size, &scope, NULL, call->given);
    cf__leave(&scope);
    return status;
}

/* ---- The call ---- */

/* Returns 1 if every pointer argument is host memory that the GPU cannot access. */
static int could_run_on_cpu(const struct cf__call *call)
{
    return call->plan->staged > 0 && call->plan->in_place == 0 && !call->split.has_pinned &&
           !cf__size_is_empty(&call->size);
}

static int run_call(struct cf__call *call)
{
    struct cf__plan *plan = call->plan;
    int is_on_cpu = 0;
    int status = call->scope->driver->is_cpu ? CF_OK : cf__stream_check_wait(call->kernel->function, call->scope, NULL);
    if (status == CF_OK)
        status = check_pointers(call);
    if (status == CF_OK && cf__has_overlap_rules(call->kernel))
        status = cf__check_overlap(call->kernel, call->given, call->args);
    if (status == CF_OK)
        status = begin_checks(call);
    if (status == CF_OK)
        cf__chunk_decide(call);
    if (status == CF_OK && could_run_on_cpu(call)) {
        cf__call_relax(call);
        status = cf__plan_decide(&call->cost, call->given, call->scope, plan, &is_on_cpu);
    }
    if (status != CF_OK)
        return status;
    if (cf__size_is_empty(&call->size) || call->scope->driver->is_cpu || plan->staged == 0) {
        status = check_elements(call);
        if (status == CF_OK)
            status = (cf__size_is_empty(&call->size) ? clear_results : launch_and_wait)(call);
    } else if (is_on_cpu) {
        status = run_on_cpu(call);
    } else {
        status = cf__run_staged(call);
    }
    if (status != CF_OK)
        return status;
    plan->device = call->device;
    plan->chunks =
        is_on_cpu || !call->split.chunk_length ? 0 : (size_t)((call->split.count - 1) / call->split.chunk_length + 1);
    plan->in = call->cost.in;
    plan->out = call->cost.out;
    plan->where = cf__size_is_empty(&call->size) ? CF__PLAN_NOTHING
                  : call->device == CF_HOST      ? CF__PLAN_HOST
                  : is_on_cpu                    ? CF__PLAN_CPU
                                                 : CF__PLAN_DEVICE;
    return CF_OK;
}

/* Allocates the per-argument arrays of a call that has more arguments or checks than the arrays on the stack. */
static int run_with_heap(struct cf__call *call)
{
    size_t params = call->kernel->nparams, checks = call->kernel->nchecks;
    char *heap = malloc(params * (sizeof *call->arguments + sizeof *call->transfers + sizeof *call->args) +
                        checks * sizeof *call->checks);
    if (!heap)
        return cf__fail(CF_ENOMEM, "%s: no memory for the call", call->kernel->function);
    call->arguments = (struct cf__argument *)(void *)heap;
    call->transfers = (struct cf__transfer *)(void *)(call->arguments + params);
    call->checks = (struct cf__element_check *)(void *)(call->transfers + params);
    call->args = (void **)(void *)(call->checks + checks);
    int status = run_call(call);
    free(heap);
    return status;
}

static int choose_block(struct cf__call *call)
{
    if (!call->kernel->launch.is_block_auto)
        return CF_OK;
    cf__call_relax(call);
    return cf__launch_choose_block(call->kernel, call->scope, call->given, &call->size);
}

static int check_call(const cf_kernel *kernel, void *const args[], cf_launch_size *size)
{
    int status = cf__check_kernel("cf_call", kernel);
    if (status != CF_OK)
        return status;
    status = cf__model_size(kernel, args, 0, size);
    if (status != CF_OK)
        (void)cf__plan_begin(kernel);
    return status;
}

static void trace_call(int64_t began, const cf_kernel *kernel, int status)
{
    char plan[CF__TRACE_ARGS];
    cf__trace_span_end(began, "call", kernel->function, "\"plan\": \"%s\", \"status\": \"%s\"",
                       cf__trace_quote(plan, sizeof plan, cf_last_plan()), cf_status_name(status));
}

static int enter_scope(struct cf__scope *scope, const cf_kernel *kernel)
{
    scope->is_pushed = 0;
    scope->driver = cf__default_stream_context(&scope->context);
    int status = CF_OK;
    if (!scope->driver)
        status = cf__enter(scope, kernel->function, NULL);
    else if (!scope->context)
        status = cf__push_default(scope, kernel->function);
    if (status != CF_OK)
        (void)cf__plan_begin(kernel);
    return status;
}

static int call_tuned(const cf_kernel *kernel, void *const args[]);

CF__HOT int cf_call(const cf_kernel *kernel, void *const args[])
{
    enum { FEW = 8, FEW_CHECKS = 2 }; /* sizes of the stack arrays, which are large enough for most kernels */
    struct cf__argument arguments[FEW];
    struct cf__transfer transfers[FEW];
    struct cf__element_check checks[FEW_CHECKS];
    void *few_args[FEW];
    struct cf__scope scope;
    struct cf__call call;
    int is_sized = cf__model_quick(kernel, args, &call.size);
    if (!is_sized && cf__is_tuned(kernel))
        return call_tuned(kernel, args);
    int status = is_sized ? CF_OK : check_call(kernel, args, &call.size);
    if (status != CF_OK)
        return status;
    if (cf__current_operation)
        return cf__fail(CF_EINVAL, "%s: it waits, within the operation %s, which must not; there is %s_async()",
                        kernel->function, cf__current_operation->kernel->function, kernel->function);
    status = enter_scope(&scope, kernel);
    if (status != CF_OK)
        return status;
    if (is_sized && cf__run_resident(kernel, &call.size, &scope, args, &status)) {
        cf__leave(&scope);
        return status;
    }
    call.kernel = kernel;
    call.scope = &scope;
    call.given = args;
    call.arguments = arguments;
    call.args = few_args;
    call.transfers = transfers;
    call.checks = checks;
    call.cost = (struct cf__copy_cost){.kernel = kernel, .size = &call.size};
    call.plan = cf__plan_begin(kernel);
    call.staging = NULL;
    call.is_relaxed = 0;
    int64_t began = cf__trace_span_begin(); /* after cf__enter(), which opens the trace */
    int is_range = cf__range_begin(kernel->function, "");
    status = choose_block(&call);
    if (status == CF_OK)
        status = (kernel->nparams <= FEW && kernel->nchecks <= FEW_CHECKS ? run_call : run_with_heap)(&call);
    if (call.is_relaxed && !scope.driver->is_cpu)
        cf__capture_restore(scope.driver, call.mode);
    cf__leave(&scope);
    if (is_range)
        cf__range_pop();
    if (began)
        trace_call(began, kernel, status);
    return status;
}

static int call_variant(const cf_kernel *variant, cf_stream stream, void *const args[])
{
    (void)stream;
    return cf_call(variant, args);
}

/* Does the work of cf_call() for a kernel with tune(...). */
__attribute__((noinline)) static int call_tuned(const cf_kernel *kernel, void *const args[])
{
    (void)cf__plan_begin(kernel);
    return cf__variant_run(kernel, NULL, args, call_variant);
}
