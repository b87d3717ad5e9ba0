/* call.c - the plain call: checks everything, stages host arrays, runs the kernel and waits for it. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "internal.h"
#include "trace.h"
#include "tuning.h"

/* ---- Pointers ---- */

/* All pointers are checked before anything is done. */
static int check_pointers(struct cf__call *call)
{
    const cf_kernel *kernel = call->kernel;
    struct cf__plan *plan = call->plan;
    struct cf__found found = {.size = 0};
    int status = cf__place_device(call->place, kernel->function, &call->device);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        struct cf__argument *argument = &call->arguments[i];
        cf_direction direction = kernel->params[i].direction;
        call->args[i] = call->given[i];
        argument->pointer.is_staged = argument->is_copied = 0;
        argument->copy = 0;
        if (direction == CF_VALUE || direction == CF_SCRATCH)
            continue;
        status = cf__check_pointer(kernel, i, call->given, call->place, call->device, &found, &argument->pointer);
        call->args[i] = &argument->pointer.usable;
        if (status != CF_OK || !argument->pointer.is_staged) {
            plan->in_place +=
                argument->pointer.usable && (!cf__is_array(&kernel->params[i]) || argument->pointer.section.count);
            continue;
        }
        argument->is_copied = 1;
        plan->staged++;
        cf__moves_add(&call->moves, i, &argument->pointer.section);
    }
    return status;
}

/* ---- Ranges ---- */

/* The ranges that are declared of elements that there are; in the order of the checks. */
static int begin_ranges(struct cf__call *call)
{
    const cf_kernel *kernel = call->kernel;
    int status = CF_OK;
    call->range_count = 0;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nchecks; i++) {
        const cf_check *check = &kernel->checks[i];
        if (check->array < 0)
            continue;
        const struct cf__pointer *array = &call->arguments[check->array].pointer;
        call->moves.indices += check->is_ascending ? 0 : (uint64_t)array->section.count;
        if (!cf__checks_elements())
            continue;
        struct cf__range *range = &call->ranges[call->range_count];
        status = cf__range_begin(range, kernel, check, call->given, &array->section);
        if (status != CF_OK || array->section.count == 0)
            continue;
        range->first = cf__forward(array->usable, array->section.offset);
        range->is_host = call->place->driver->is_host || array->is_staged;
        call->range_count++;
    }
    return status;
}

int cf__call_report(const struct cf__call *call)
{
    for (size_t i = 0; i < call->range_count; i++)
        if (call->ranges[i].found != CF__NONE)
            return cf__range_report(&call->ranges[i], call->place);
    return CF_OK;
}

int cf__call_search_host(const struct cf__call *call, size_t end)
{
    for (size_t i = 0; i < end; i++) {
        if (!call->ranges[i].is_host)
            continue;
        int status = cf__pool_ready();
        if (status != CF_OK)
            return status;
        cf__range_search(&call->ranges[i]);
        if (call->ranges[i].found != CF__NONE)
            break;
    }
    return CF_OK;
}

int cf__call_search_device(struct cf__call *call)
{
    size_t end = 0, first = 0;
    while (first < call->range_count && call->ranges[first].is_host)
        first++;
    if (first == call->range_count)
        return CF_OK;
    cf__call_relax(call);
    int status = cf__range_search_device(call->ranges, call->range_count, call->place);
    if (status != CF_OK)
        return status;
    while (end < call->range_count && call->ranges[end].found == CF__NONE)
        end++;
    if (end < call->range_count)
        status = cf__call_search_host(call, end);
    return status == CF_OK ? cf__call_report(call) : status;
}

static int search_all(struct cf__call *call)
{
    int status = cf__call_search_device(call);
    if (status == CF_OK)
        status = cf__call_search_host(call, call->range_count);
    return status == CF_OK ? cf__call_report(call) : status;
}

/* ---- The kernel ---- */

int cf__call_failure(const struct cf__call *call, CUresult result, const char *function)
{
    return cf__fail_driver(call->place->driver, result, function, "%s", call->kernel->function);
}

/* Where a part of an operation failed, others may be at work, in memory that the caller has back, or that is given
 * back. */
int cf__call_launch(struct cf__call *call)
{
    int status = cf__launch(call->kernel, &call->size, call->place, NULL, call->args);
    if (status != CF_OK && cf_kernel_is_operation(call->kernel)) {
        cf__call_relax(call);
        (void)call->place->driver->cuStreamSynchronize(NULL);
    }
    return status;
}

/* For what was enqueued on the default stream. What can be done before the wait costs nothing: the GPU is at work. */
int cf__call_wait(struct cf__call *call, int status)
{
    if (status != CF_OK)
        return status;
    cf__call_relax(call);
    CUresult result = call->place->driver->cuStreamSynchronize(NULL);
    if (result != CUDA_SUCCESS)
        return cf__call_failure(call, result, "cuStreamSynchronize");
    cf__note_waited(call->place, NULL);
    return CF_OK;
}

static int launch_and_wait(struct cf__call *call)
{
    return cf__call_wait(call, cf__call_launch(call));
}

static struct cf__spot spot_of(const void *data, uint32_t i, const cf_param *param)
{
    const struct cf__call *call = data;
    if (param->direction == CF_SCRATCH)
        return (struct cf__spot){0, 0};
    return (struct cf__spot){(uintptr_t)call->arguments[i].pointer.usable, call->arguments[i].pointer.is_staged};
}

/* Where the grid is empty: what is to be 0, and nothing else, arrays of the host where they are. */
static int clear_results(struct cf__call *call)
{
    return call->kernel->nzeros
               ? cf__call_wait(call, cf__clear(call->kernel, call->place, NULL, call->given, spot_of, call))
               : CF_OK;
}

/* On the CPU, for a thread whose device is a GPU: with the arguments as they are. */
static int run_on_cpu(struct cf__call *call)
{
    struct cf__place place;
    int status = cf__enter_device(&place, call->kernel->function, CF_HOST);
    if (status != CF_OK)
        return status;
    call->place = &place;
    status = cf__size(call->kernel, &place, call->given, &call->size);
    if (status == CF_OK)
        status = search_all(call);
    if (status == CF_OK)
        status = cf__launch(call->kernel, &call->size, &place, NULL, call->given);
    cf__leave(&place);
    return status;
}

/* ---- The call ---- */

/* Whether every pointer argument is host memory that the GPU cannot reach. */
static int could_run_on_cpu(const struct cf__call *call)
{
    return call->plan->staged > 0 && call->plan->in_place == 0 && !call->split.has_pinned && !call->size.is_empty;
}

static int run(struct cf__call *call)
{
    struct cf__plan *plan = call->plan;
    int is_on_cpu = 0;
    int status = call->place->driver->is_host ? CF_OK : cf__check_wait(call->kernel->function, call->place, NULL);
    if (status == CF_OK)
        status = check_pointers(call);
    if (status == CF_OK && cf__keeps_apart(call->kernel))
        status = cf__check_apart(call->kernel, call->given, call->args);
    if (status == CF_OK)
        status = begin_ranges(call);
    if (status == CF_OK)
        cf__split_decide(call);
    if (status == CF_OK && could_run_on_cpu(call)) {
        cf__call_relax(call);
        status = cf__plan_decide(&call->moves, call->given, call->place, plan, &is_on_cpu);
    }
    if (status != CF_OK)
        return status;
    if (call->size.is_empty || call->place->driver->is_host || plan->staged == 0) {
        status = search_all(call);
        if (status == CF_OK)
            status = (call->size.is_empty ? clear_results : launch_and_wait)(call);
    } else if (is_on_cpu) {
        status = run_on_cpu(call);
    } else {
        status = cf__call_staged(call);
    }
    if (status != CF_OK)
        return status;
    plan->device = call->device;
    plan->parts = is_on_cpu || !call->split.part ? 0 : (size_t)((call->split.count - 1) / call->split.part + 1);
    plan->in = call->moves.in;
    plan->out = call->moves.out;
    plan->where = call->size.is_empty       ? CF__PLAN_NOTHING
                  : call->device == CF_HOST ? CF__PLAN_HOST
                  : is_on_cpu               ? CF__PLAN_CPU
                                            : CF__PLAN_DEVICE;
    return CF_OK;
}

/* With room for arguments and checks that is not on the stack. */
static int run_large(struct cf__call *call)
{
    size_t params = call->kernel->nparams, checks = call->kernel->nchecks;
    char *room = malloc(params * (sizeof *call->arguments + sizeof *call->moved + sizeof *call->args) +
                        checks * sizeof *call->ranges);
    if (!room)
        return cf__fail(CF_ENOMEM, "%s: no memory for the call", call->kernel->function);
    call->arguments = (struct cf__argument *)(void *)room;
    call->moved = (struct cf__moved *)(void *)(call->arguments + params);
    call->ranges = (struct cf__range *)(void *)(call->moved + params);
    call->args = (void **)(void *)(call->ranges + checks);
    int status = run(call);
    free(room);
    return status;
}

/* The size of the launch, where the compiled checks have not found it. */
static int find_size(struct cf__call *call, int is_sized, const cf_size *size)
{
    if (!is_sized) {
        cf__call_relax(call);
        return cf__size(call->kernel, call->place, call->given, &call->size);
    }
    call->size = (struct cf__size){.grid = {size->grid[0], size->grid[1], size->grid[2]},
                                   .block = {size->block[0], size->block[1], size->block[2]},
                                   .shared = (int)size->shared};
    return CF_OK;
}

static int check(const cf_kernel *kernel, void *const args[])
{
    if (!kernel)
        return cf__fail(CF_EINVAL, "cf_call: kernel is NULL");
    int status = cf__check_arguments(kernel, args);
    if (status != CF_OK && cf__is_known(kernel))
        (void)cf__plan_begin(kernel);
    return status;
}

static void trace_call(int64_t began, const cf_kernel *kernel, int status)
{
    char plan[CF__TRACE_ARGS];
    cf__trace_end(began, "call", kernel->function, "\"plan\": \"%s\", \"status\": \"%s\"",
                  cf__trace_quote(plan, sizeof plan, cf_last_plan()), cf_status_name(status));
}

static int enter(struct cf__place *place, const cf_kernel *kernel)
{
    place->pushed = 0;
    place->driver = cf__own_context(&place->context);
    int status = CF_OK;
    if (!place->driver)
        status = cf__enter(place, kernel->function, NULL);
    else if (!place->context)
        status = cf__enter_lent(place, kernel->function);
    if (status != CF_OK)
        (void)cf__plan_begin(kernel);
    return status;
}

static int call_tuned(const cf_kernel *kernel, void *const args[]);

CF__HOT int cf_call(const cf_kernel *kernel, void *const args[])
{
    enum { FEW = 8, FEW_CHECKS = 2 }; /* what most kernels have: these need no allocation */
    struct cf__argument arguments[FEW];
    struct cf__moved moved[FEW];
    struct cf__range ranges[FEW_CHECKS];
    void *few_args[FEW];
    struct cf__place place;
    struct cf__call call;
    cf_size size;
    int is_sized = cf__in_order(kernel, args, &size);
    if (!is_sized && cf__is_tuned(kernel))
        return call_tuned(kernel, args);
    int status = is_sized ? CF_OK : check(kernel, args);
    if (status != CF_OK)
        return status;
    if (cf__within)
        return cf__fail(CF_EINVAL, "%s: it waits, within the operation %s, which must not; there is %s_async()",
                        kernel->function, cf__within->kernel->function, kernel->function);
    status = enter(&place, kernel);
    if (status != CF_OK)
        return status;
    if (is_sized && cf__call_direct(kernel, &size, &place, args, &status)) {
        cf__leave(&place);
        return status;
    }
    call.kernel = kernel;
    call.place = &place;
    call.given = args;
    call.arguments = arguments;
    call.args = few_args;
    call.moved = moved;
    call.ranges = ranges;
    call.moves = (struct cf__moves){.kernel = kernel, .size = &call.size};
    call.plan = cf__plan_begin(kernel);
    call.stage = NULL;
    call.is_relaxed = 0;
    int64_t began = cf__trace_begin(); /* the first call opens the trace as it enters */
    status = find_size(&call, is_sized, &size);
    if (status == CF_OK)
        status = (kernel->nparams <= FEW && kernel->nchecks <= FEW_CHECKS ? run : run_large)(&call);
    if (call.is_relaxed && !place.driver->is_host)
        cf__unrelax(place.driver, call.mode);
    cf__leave(&place);
    if (began)
        trace_call(began, kernel, status);
    return status;
}

/* Of a kernel that stands for its variants. */
__attribute__((noinline)) static int call_tuned(const cf_kernel *kernel, void *const args[])
{
    struct cf__attempt attempt;
    int status = cf__attempt_begin(&attempt, kernel, NULL, args);
    if (status != CF_OK) {
        (void)cf__plan_begin(kernel);
        return status;
    }
    status = cf_call(attempt.variant, args);
    return cf__attempt_refused(&attempt, args, status) ? cf_call(attempt.first, args) : status;
}
