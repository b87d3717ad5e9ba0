/* split.c - plain calls of kernels with split(...): whether one is taken apart, so that copies go both ways at once, and
 * what the kernel is launched with for each part.
 *
 * Parts are chosen by sizes alone, so that the same call always takes the same way. */
#include <inttypes.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/chunk.h"

#include "base/descriptor.h"
#include "base/error.h"
#include "staging/transfer.h"
#include "kernel/arguments.h"
#include "kernel/image.h"
#include "kernel/pointer.h"
#include "kernel/section.h"
#include "call/chunk_pipeline.h"
#include "call/plan.h"
#include "call/steps.h"

/* Bytes that are copied, for which a call is worth splitting: each part costs some 10 us beside its copies. */
#define WORTH_BYTES ((size_t)8 << 20)

/* Bytes of a part's longest array. Pinned arrays, which need no buffers, reach more in longer copies. */
#define MIN_BYTES ((size_t)512 << 10)
#define MAX_BYTES ((size_t)2 << 20)
#define MAX_PINNED_BYTES ((size_t)16 << 20)

/* The first part is copied in, and the last one out, while nothing goes the other way. */
#define LEAST_PARTS 16

/* Parts of so many elements or more are multiples of it: they begin where arrays are as aligned as at their beginning. */
#define ALIGNMENT 256

static int is_written(const cf_param *param)
{
    return param->direction != CF_IN;
}

/* An array of the caller's that has a part for each part of the elements. */
static int has_parts(const struct cf__call *call, uint32_t i)
{
    const cf_param *param = &call->kernel->params[i];
    return cf__is_array(param) && param->direction != CF_SCRATCH && cf_param_is_split(call->kernel, i);
}

/* Whether its parts are to be copied. */
static int is_candidate(const struct cf__call *call, uint32_t i)
{
    const struct cf__pointer *pointer = &call->arguments[i].pointer;
    return has_parts(call, i) && pointer->section.count > 0 &&
           (pointer->is_staged || (pointer->is_pinned && call->split.copies_pinned));
}

int cf__is_chunked(const struct cf__call *call, uint32_t i)
{
    return call->split.part && call->arguments[i].is_copied && has_parts(call, i);
}

static size_t stride_of(const struct cf__call *call, uint32_t i)
{
    const struct cf__section *section = &call->arguments[i].pointer.section;
    return section->span / (size_t)section->extents[0];
}

static int is_array(const struct cf__call *call, uint32_t i)
{
    const cf_param *param = &call->kernel->params[i];
    return cf__is_array(param) && param->direction != CF_SCRATCH && call->arguments[i].pointer.section.count > 0;
}

static int overlap(const struct cf__call *call, uint32_t i, uint32_t j)
{
    const struct cf__section *one = &call->arguments[i].pointer.section, *other = &call->arguments[j].pointer.section;
    const uintptr_t first = *(const uintptr_t *)call->given[i] + one->offset;
    const uintptr_t second = *(const uintptr_t *)call->given[j] + other->offset;
    return first < second ? second - first < one->span : first - second < other->span;
}

/* Whether they are one, element by element of what is split. */
static int are_one(const struct cf__call *call, uint32_t i, uint32_t j)
{
    return has_parts(call, i) && has_parts(call, j) && stride_of(call, i) == stride_of(call, j) &&
           *(const uintptr_t *)call->given[i] == *(const uintptr_t *)call->given[j];
}

/* Whether all of it is on the device before anything is copied out. */
static int is_read_first(const struct cf__call *call, uint32_t i)
{
    return !has_parts(call, i) && call->arguments[i].pointer.is_staged && !is_written(&call->kernel->params[i]);
}

/* Whether no part's copies touch what another part reads or writes: arrays that are copied by parts share memory with
 * other arrays element by element alone. */
static int may_be_split(const struct cf__call *call)
{
    for (uint32_t i = 0; i < call->kernel->nparams; i++)
        for (uint32_t j = 0; j < call->kernel->nparams; j++)
            if (i != j && is_candidate(call, i) && is_array(call, j) &&
                (is_written(&call->kernel->params[i]) || is_written(&call->kernel->params[j])) && overlap(call, i, j) &&
                !are_one(call, i, j) && !is_read_first(call, j))
                return 0;
    return 1;
}

/* How many elements a part has; 0: it is not worth it. */
static int64_t part_of(const struct cf__call *call, int64_t *count)
{
    size_t bytes = 0, stride = 1, most = MAX_PINNED_BYTES;
    *count = 0;
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        if (!is_candidate(call, i))
            continue;
        const struct cf__section *section = &call->arguments[i].pointer.section;
        const size_t ways = call->kernel->params[i].direction == CF_INOUT ? 2 : 1;
        *count = section->extents[0];
        bytes += section->span * ways;
        stride = stride_of(call, i) > stride ? stride_of(call, i) : stride;
        if (call->arguments[i].pointer.is_staged)
            most = MAX_BYTES;
    }
    if (bytes < WORTH_BYTES)
        return 0;
    int64_t part = *count / LEAST_PARTS, least = (int64_t)(MIN_BYTES / stride);
    part = part < least ? least : part;
    part = part < 1 ? 1 : part;
    part = part > (int64_t)(most / stride) ? (int64_t)(most / stride) : part;
    part = part < ALIGNMENT ? part : part / ALIGNMENT * ALIGNMENT;
    return part < *count ? part : 0;
}

/* The size of a launch for so many elements, which the scalar checks have to hold of, too. */
static int size_of(struct cf__call *call, int64_t length, struct cf__grid *size)
{
    const cf_kernel *kernel = call->kernel;
    const int number = cf_kernel_split(kernel);
    void *const before = call->args[number];
    struct cf__error error;
    cf__error_save(&error);
    call->split.given = length;
    call->args[number] = &call->split.given;
    int status = cf__check_arguments(kernel, call->args);
    if (status == CF_OK)
        status = cf__compute_grid(kernel, call->scope, call->args, size);
    call->args[number] = before;
    cf__error_restore(&error);
    return status == CF_OK && !size->is_empty;
}

void cf__chunk_decide(struct cf__call *call)
{
    struct cf__chunking *split = &call->split;
    enum cf__reason why;
    split->part = 0;
    split->has_pinned = 0;
    if (cf_kernel_split(call->kernel) < 0 || call->scope->driver->is_cpu || call->size.is_empty)
        return;
    split->copies_pinned = cf__plan_copies_pinned(&why);
    if (!split->copies_pinned && call->plan->staged == 0)
        return;
    const int64_t part = part_of(call, &split->count);
    if (!part || !may_be_split(call))
        return;
    const int64_t last = split->count % part;
    if (!size_of(call, part, &split->of_part) || (last && !size_of(call, last, &split->of_last)))
        return;
    split->part = part;
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        struct cf__argument *argument = &call->arguments[i];
        if (!is_candidate(call, i))
            continue;
        cf__copy_cost_both(&call->cost, i, &argument->pointer.section);
        if (argument->is_copied)
            continue;
        argument->is_copied = split->has_pinned = 1;
        call->plan->why = why;
        call->plan->staged++;
        call->plan->in_place--;
        cf__copy_cost_add(&call->cost, i, &argument->pointer.section);
    }
}

/* ---- The launch of a part ---- */

/* Moves all arrays that have parts, those that are used in place, too. */
static void move_by(struct cf__call *call, int64_t elements)
{
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        struct cf__pointer *pointer = &call->arguments[i].pointer;
        if (has_parts(call, i) && pointer->section.count)
            pointer->usable = (void *)((uintptr_t)pointer->usable + (uintptr_t)elements * stride_of(call, i));
    }
}

static int enqueue_part(void *data, int64_t first, int64_t length)
{
    struct cf__call *call = data;
    const struct cf__grid whole = call->size;
    void **of_count = &call->args[cf_kernel_split(call->kernel)], *const before = *of_count;
    move_by(call, first);
    call->size = length == call->split.part ? call->split.of_part : call->split.of_last;
    call->split.given = length; /* its low bytes come first, and any integer type takes them */
    *of_count = &call->split.given;
    int status = cf__call_launch(call);
    *of_count = before;
    call->size = whole;
    move_by(call, -first);
    return status;
}

int cf__chunk_run(struct cf__call *call)
{
    struct cf__chunk_pipeline pipeline = {.scope = call->scope,
                                          .stage = call->stage,
                                          .function = call->kernel->function,
                                          .arrays = call->transfers,
                                          .elements = call->split.count,
                                          .part = call->split.part,
                                          .launch = enqueue_part,
                                          .data = call};
    /* Not within the pipeline, where it would hold up all lanes. */
    struct cf__loaded *loaded = cf__kernel_loaded(call->kernel, call->scope);
    int status = loaded ? CF_OK : cf__kernel_load(call->kernel, call->scope, &loaded);
    if (status != CF_OK)
        return status;
    call->split.of_part.loaded = call->split.of_last.loaded = loaded;
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        if (!cf__is_chunked(call, i))
            continue;
        struct cf__transfer *array = &call->transfers[pipeline.count++];
        cf__call_transfer(call, i, array);
        array->is_in = call->kernel->params[i].direction != CF_OUT;
        array->is_out = is_written(&call->kernel->params[i]);
        array->is_pinned = !call->arguments[i].pointer.is_staged;
    }
    return cf__chunk_pipeline_run(&pipeline);
}
