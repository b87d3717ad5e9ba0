/* aligned_args.c - copies misaligned arrays for a CPU body that casts pointers, for example by *(float4 *)p. A
 * misaligned array in host memory would crash the process. On a GPU, the plain call copies host arrays to aligned
 * memory anyway. */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/aligned_args.h"

#include "base/error.h"
#include "model/descriptor.h"
#include "model/rows.h"
#include "model/section.h"
#include "driver/driver.h"
#include "context/scope.h"
#include "stream/capture.h"
#include "kernel/pointer.h"

#define ALIGNMENT 256 /* alignment in bytes, the same as for copies on a GPU */

struct cf__aligned_copy {
    void *memory;       /* memory of the copy; NULL: not copied, or an earlier parameter owns the copy */
    void *usable;       /* pointer that the kernel gets; NULL: not copied */
    void *before;       /* values of a written array's elements before the launch; NULL: only read, or not copied */
    cf_section section; /* elements to copy */
};

static void *given(void *const args[], uint32_t i)
{
    return *(void *const *)args[i];
}

/* Returns 1 if the address of an array is misaligned for the kernel's casts. */
static int is_misaligned(const cf_kernel *kernel, uint32_t i, void *const args[])
{
    return kernel->params[i].cpu_align && (uintptr_t)given(args, i) % kernel->params[i].cpu_align;
}

/* Measures a misaligned array. For any other array, `count` becomes 0. */
static int measure_misaligned(const cf_kernel *kernel, uint32_t i, void *const args[], cf_section *section)
{
    section->count = 0;
    return is_misaligned(kernel, i, args) ? cf__section_measure(kernel, i, args, section) : CF_OK;
}

int cf__aligned_args_check(const cf_kernel *kernel, void *const args[])
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        cf_section section;
        status = measure_misaligned(kernel, i, args, &section);
        if (status == CF_OK && section.count)
            status =
                cf__fail(CF_EINVAL,
                         "%s: %s = %p is not aligned to the %" PRIu32
                         " bytes of a type to which the kernel casts pointers, and graphs on the CPU do not copy it",
                         kernel->function, kernel->params[i].name, given(args, i), kernel->params[i].cpu_align);
    }
    return status;
}

static void copy_rows(const cf_section *section, size_t element, char *to, const char *from)
{
    struct cf__rows rows;
    cf__section_rows(section, element, &rows);
    for (size_t slice = 0; slice < rows.slices; slice++)
        for (size_t row = 0; row < rows.rows; row++) {
            size_t offset = cf__rows_slice_offset(&rows, slice) + row * rows.pitch;
            memcpy(to + offset, from + offset, rows.length);
        }
}

static int are_same(const cf_section *a, const cf_section *b)
{
    int same = a->offset == b->offset && a->span == b->span && a->ndims == b->ndims;
    for (uint32_t d = 0; same && d < a->ndims; d++)
        same = a->lowers[d] == b->lowers[d] && a->extents[d] == b->extents[d] && a->strides[d] == b->strides[d];
    return same;
}

/* Finds an earlier copy of the same array, which inplace(...) permits, so that the kernel also gets one array for both
 * parameters. */
static void *find_copy(const struct cf__aligned_copy copies[], uint32_t i, void *const args[])
{
    for (uint32_t j = 0; j < i; j++)
        if (copies[j].usable && given(args, j) == given(args, i) && are_same(&copies[j].section, &copies[i].section))
            return copies[j].usable;
    return NULL;
}

/* Copies only the elements that the launch changed, because other threads may be writing to the others. */
static void copy_changes(const cf_section *section, size_t element, char *to, const char *from, const char *before)
{
    struct cf__rows rows;
    cf__section_rows(section, element, &rows);
    for (size_t slice = 0; slice < rows.slices; slice++)
        for (size_t row = 0; row < rows.rows; row++) {
            const size_t begin = cf__rows_slice_offset(&rows, slice) + row * rows.pitch;
            for (size_t at = begin; at < begin + rows.length; at += element)
                if (memcmp(from + at, before + at, element) != 0)
                    memcpy(to + at, from + at, element);
        }
}

/* Copies an array even if the kernel only writes it, because the kernel may leave elements unchanged. */
static int copy_in(const cf_kernel *kernel, uint32_t i, void *const args[], struct cf__aligned_copy copies[])
{
    struct cf__aligned_copy *copy = &copies[i];
    const cf_param *param = &kernel->params[i];
    const size_t offset = copy->section.offset, gap = offset % ALIGNMENT;
    const char *from = cf__forward(given(args, i), offset);
    copy->usable = find_copy(copies, i, args);
    if (!copy->usable) {
        if (posix_memalign(&copy->memory, ALIGNMENT, gap + copy->section.span) != 0) {
            copy->memory = NULL;
            return cf__fail(CF_ENOMEM, "%s: no memory for an aligned copy of %s", kernel->function, param->name);
        }
        copy->usable = cf__backward((char *)copy->memory + gap, offset);
        copy_rows(&copy->section, param->bytes, cf__forward(copy->usable, offset), from);
    }
    if (param->direction == CF_IN)
        return CF_OK;
    copy->before = malloc(copy->section.span);
    if (!copy->before)
        return cf__fail(CF_ENOMEM, "%s: no memory for an aligned copy of %s", kernel->function, param->name);
    copy_rows(&copy->section, param->bytes, copy->before, cf__forward(copy->usable, offset));
    return CF_OK;
}

static void free_copies(const cf_kernel *kernel, struct cf__aligned_copy *copies)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        free(copies[i].memory);
        free(copies[i].before);
    }
    free(copies);
}

/* Returns 1 if no array has to be copied. */
static int are_aligned(const cf_kernel *kernel, void *const args[])
{
    uint32_t i = 0;
    while (i < kernel->nparams && !is_misaligned(kernel, i, args))
        i++;
    return i == kernel->nparams;
}

int cf__aligned_args_begin(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
                           struct cf__aligned_args *aligned)
{
    CUstreamCaptureStatus capture;
    *aligned = (struct cf__aligned_args){args, args, NULL};
    if (are_aligned(kernel, args))
        return CF_OK;
    int status = cf__capture_status(kernel->function, scope, stream, &capture);
    if (status != CF_OK || capture != CU_STREAM_CAPTURE_STATUS_NONE)
        return status == CF_OK ? cf__aligned_args_check(kernel, args) : status;
    struct cf__aligned_copy *copies = calloc(kernel->nparams, sizeof *copies + sizeof *args);
    if (!copies)
        return cf__fail(CF_ENOMEM, "%s: no memory for the launch", kernel->function);
    void **own = (void **)(void *)(copies + kernel->nparams);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        own[i] = args[i];
        status = measure_misaligned(kernel, i, args, &copies[i].section);
        if (status != CF_OK || !copies[i].section.count)
            continue;
        status = copy_in(kernel, i, args, copies);
        own[i] = &copies[i].usable;
    }
    if (status != CF_OK)
        free_copies(kernel, copies);
    else
        *aligned = (struct cf__aligned_args){own, args, copies};
    return status;
}

void cf__aligned_args_end(const cf_kernel *kernel, const struct cf__aligned_args *aligned)
{
    if (!aligned->copies)
        return;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const struct cf__aligned_copy *copy = &aligned->copies[i];
        if (copy->before)
            copy_changes(&copy->section, kernel->params[i].bytes,
                         cf__forward(given(aligned->given, i), copy->section.offset),
                         cf__forward(copy->usable, copy->section.offset), copy->before);
    }
    free_copies(kernel, aligned->copies);
}
