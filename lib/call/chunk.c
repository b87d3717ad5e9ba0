/* chunk.c - decides whether a plain call of a kernel with split(...) runs in chunks, so that copies go both ways at
 * once, and launches the chunks.
 *
 * The decision depends only on sizes, so that the same call always takes the same path. */
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/chunk.h"

#include "model/descriptor.h"
#include "model/size.h"
#include "staging/transfer.h"
#include "kernel/image.h"
#include "kernel/pointer.h"
#include "call/chunk_pipeline.h"
#include "call/plan.h"
#include "call/steps.h"

/* Minimum bytes to copy in a split call, because each chunk costs about 10 us in addition to its copies. */
#define WORTH_BYTES ((size_t)8 << 20)

/* Limits in bytes for a chunk of the largest array. Pinned arrays need no buffers, and longer copies are faster for
 * them. */
#define MIN_BYTES ((size_t)512 << 10)
#define MAX_BYTES ((size_t)2 << 20)
#define MAX_PINNED_BYTES ((size_t)16 << 20)

/* Minimum number of chunks. The copy in of the first chunk and the copy out of the last overlap with no other copy, so
 * with few chunks splitting gains little. */
#define LEAST_CHUNKS 16

/* Lengths of chunks are multiples of this number of elements, so that chunks are as aligned as the array. A chunk with
 * fewer elements has any length. */
#define ALIGNMENT 256

/* Returns 1 if a chunk of the call needs only a segment of the array, and not the whole array. */
static int is_split(const struct cf__call *call, uint32_t i)
{
    const cf_param *param = &call->kernel->params[i];
    return cf__is_callers_array(param) && cf_param_is_split(call->kernel, i);
}

/* Returns 1 if a split call copies the array in chunks. */
static int is_candidate(const struct cf__call *call, uint32_t i)
{
    const struct cf__pointer *pointer = &call->arguments[i].pointer;
    return is_split(call, i) && pointer->section.count > 0 &&
           (pointer->is_staged || (pointer->is_pinned && call->split.copies_pinned));
}

int cf__chunk_copies(const struct cf__call *call, uint32_t i)
{
    return call->split.chunk_length && call->arguments[i].is_copied && is_split(call, i);
}

static size_t get_stride(const struct cf__call *call, uint32_t i)
{
    const cf_section *section = &call->arguments[i].pointer.section;
    return section->span / (size_t)section->extents[0];
}

static int has_elements(const struct cf__call *call, uint32_t i)
{
    const cf_param *param = &call->kernel->params[i];
    return cf__is_callers_array(param) && call->arguments[i].pointer.section.count > 0;
}

static int arrays_overlap(const struct cf__call *call, uint32_t i, uint32_t j)
{
    const cf_section *one = &call->arguments[i].pointer.section, *other = &call->arguments[j].pointer.section;
    const uintptr_t first = *(const uintptr_t *)call->given[i] + one->offset;
    const uintptr_t second = *(const uintptr_t *)call->given[j] + other->offset;
    return first < second ? second - first < one->span : first - second < other->span;
}

/* Returns 1 if both arrays are split, and elements with the same index have the same address. */
static int share_elements(const struct cf__call *call, uint32_t i, uint32_t j)
{
    return is_split(call, i) && is_split(call, j) && get_stride(call, i) == get_stride(call, j) &&
           *(const uintptr_t *)call->given[i] == *(const uintptr_t *)call->given[j];
}

/* Returns 1 if the whole array is on the device before the first copy out. */
static int is_read_first(const struct cf__call *call, uint32_t i)
{
    return !is_split(call, i) && call->arguments[i].pointer.is_staged && !cf__is_written(&call->kernel->params[i]);
}

/* Returns 1 if the copies of a chunk access no memory that other chunks use. So a split array may overlap another array
 * only element by element. */
static int may_be_split(const struct cf__call *call)
{
    for (uint32_t i = 0; i < call->kernel->nparams; i++)
        for (uint32_t j = 0; j < call->kernel->nparams; j++)
            if (i != j && is_candidate(call, i) && has_elements(call, j) &&
                (cf__is_written(&call->kernel->params[i]) || cf__is_written(&call->kernel->params[j])) &&
                arrays_overlap(call, i, j) && !share_elements(call, i, j) && !is_read_first(call, j))
                return 0;
    return 1;
}

/* Returns the number of elements in a chunk, or 0 if splitting does not pay. */
static int64_t choose_chunk_length(const struct cf__call *call, int64_t *count)
{
    size_t bytes = 0, stride = 1, most = MAX_PINNED_BYTES;
    *count = 0;
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        if (!is_candidate(call, i))
            continue;
        const cf_section *section = &call->arguments[i].pointer.section;
        const size_t ways = call->kernel->params[i].direction == CF_INOUT ? 2 : 1;
        *count = section->extents[0];
        bytes += section->span * ways;
        stride = get_stride(call, i) > stride ? get_stride(call, i) : stride;
        if (call->arguments[i].pointer.is_staged)
            most = MAX_BYTES;
    }
    if (bytes < WORTH_BYTES)
        return 0;
    int64_t length = *count / LEAST_CHUNKS, least = (int64_t)(MIN_BYTES / stride);
    length = length < least ? least : length;
    length = length < 1 ? 1 : length;
    length = length > (int64_t)(most / stride) ? (int64_t)(most / stride) : length;
    length = length < ALIGNMENT ? length : length / ALIGNMENT * ALIGNMENT;
    return length < *count ? length : 0;
}

/* Computes the launch size for `length` elements; returns 0 if the scalar checks reject that length. */
static int compute_size(struct cf__call *call, int64_t length, cf_launch_size *size)
{
    const int number = cf_kernel_split(call->kernel);
    void *const before = call->args[number];
    call->split.given = length;
    call->args[number] = &call->split.given;
    int is_valid = cf__model_try_size(call->kernel, call->args, call->size.block[0], size);
    call->args[number] = before;
    return is_valid;
}

void cf__chunk_decide(struct cf__call *call)
{
    struct cf__chunking *split = &call->split;
    enum cf__reason why;
    split->chunk_length = 0;
    split->has_pinned = 0;
    if (cf_kernel_split(call->kernel) < 0 || call->scope->driver->is_cpu || cf__size_is_empty(&call->size))
        return;
    split->copies_pinned = cf__plan_copies_pinned(&why);
    if (!split->copies_pinned && call->plan->staged == 0)
        return;
    const int64_t length = choose_chunk_length(call, &split->count);
    if (!length || !may_be_split(call))
        return;
    const int64_t last = split->count % length;
    if (!compute_size(call, length, &split->of_chunk) || (last && !compute_size(call, last, &split->of_last)))
        return;
    split->chunk_length = length;
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

/* ---- The launch of a chunk ---- */

/* Advances the pointers of all split arrays by a number of elements, including the arrays that are used in place. */
static void shift_arrays(struct cf__call *call, int64_t elements)
{
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        struct cf__pointer *pointer = &call->arguments[i].pointer;
        if (is_split(call, i) && pointer->section.count)
            pointer->usable = (void *)((uintptr_t)pointer->usable + (uintptr_t)elements * get_stride(call, i));
    }
}

static int launch_chunk(void *data, int64_t first, int64_t length)
{
    struct cf__call *call = data;
    const cf_launch_size whole = call->size;
    void **of_count = &call->args[cf_kernel_split(call->kernel)], *const before = *of_count;
    shift_arrays(call, first);
    call->size = length == call->split.chunk_length ? call->split.of_chunk : call->split.of_last;
    call->split.given = length; /* all machines are little-endian, so a parameter of any integer type reads the right
                                 * value */
    *of_count = &call->split.given;
    int status = cf__call_launch(call);
    *of_count = before;
    call->size = whole;
    shift_arrays(call, -first);
    return status;
}

int cf__chunk_run(struct cf__call *call)
{
    struct cf__chunk_pipeline pipeline = {.scope = call->scope,
                                          .set = call->staging,
                                          .function = call->kernel->function,
                                          .arrays = call->transfers,
                                          .elements = call->split.count,
                                          .chunk_length = call->split.chunk_length,
                                          .launch = launch_chunk,
                                          .data = call};
    /* Loads the kernel now, because loading within the pipeline would delay all channels. */
    struct cf__loaded *loaded = cf__kernel_loaded(call->kernel, call->scope);
    int status = loaded ? CF_OK : cf__kernel_load(call->kernel, call->scope, &loaded);
    if (status != CF_OK)
        return status;
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        if (!cf__chunk_copies(call, i))
            continue;
        struct cf__transfer *transfer = &call->transfers[pipeline.count++];
        cf__call_transfer(call, i, transfer);
        transfer->is_in = call->kernel->params[i].direction != CF_OUT;
        transfer->is_out = cf__is_written(&call->kernel->params[i]);
        transfer->is_pinned = !call->arguments[i].pointer.is_staged;
    }
    return cf__chunk_pipeline_run(&pipeline);
}
