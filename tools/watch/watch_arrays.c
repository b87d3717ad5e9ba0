/* watch_arrays.c - registers the memory that a checked kernel may access: arrays, scratch memory, the module's own
 * data. */
#include "watch/watch_arrays.h"

#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "base/runtime.h"
#include "watch/check.h"
#include "watch/finding.h"
#include "watch/input.h"
#include "watch/region.h"

static int64_t extent(const cf_expr *expr, void *const args[])
{
    int64_t value = 0;
    return expr->ops && cf_kernel_evaluate(finding_kernel, expr->ops, SIZE_MAX, args, &value) == CF_OK ? value : 0;
}

/* Returns the bytes of an array as given on the command line, or of scratch memory as declared. */
static size_t bytes_of(uint32_t i, const size_t *bytes_of_arrays, void *const args[])
{
    const cf_param *param = &finding_kernel->params[i];
    if (bytes_of_arrays && param->direction != CF_SCRATCH)
        return bytes_of_arrays[i];
    cf_section section;
    return cf_kernel_section(finding_kernel, i, args, &section) == CF_OK ? section.offset + section.span : 0;
}

/* Adds the module's writable data. */
static int add_data(struct dl_phdr_info *info, size_t size, void *module_path)
{
    (void)size;
    if (strcmp(info->dlpi_name, module_path) != 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_W)
            region_add(&(struct region){
                .begin = (char *)(info->dlpi_addr + part->p_vaddr), .bytes = part->p_memsz, .kind = REGION_DATA});
    }
    return 1;
}

void watch_data(const char *module_path)
{
    (void)dl_iterate_phdr(add_data, (void *)module_path);
}

/* Marks memory that the library has cleared as written. */
static void see_zeros(uint32_t i, void *const args[], unsigned char *seen, size_t bytes)
{
    if (!seen)
        return;
    for (uint32_t z = 0; z < finding_kernel->nzeros; z++) {
        const cf_zero *zero = &finding_kernel->zeros[z];
        if (zero->array != i)
            continue;
        size_t begin = (size_t)extent(&zero->lower, args) * finding_kernel->params[i].bytes;
        size_t length =
            zero->extent.ops ? (size_t)extent(&zero->extent, args) * finding_kernel->params[i].bytes : bytes;
        if (begin < bytes)
            memset(seen + begin, 1, length < bytes - begin ? length : bytes - begin);
    }
}

/* Joins parameters with the same array, as inplace(...) permits. The array has the largest of their sizes, counts as
 * written if a parameter reads it, and is an input if all are inputs. */
static void join(uint32_t first, const size_t *bytes_of_arrays, void *const args[], size_t *bytes, int *is_written,
                 int *is_input)
{
    for (uint32_t i = first + 1; i < finding_kernel->nparams; i++) {
        const cf_direction direction = finding_kernel->params[i].direction;
        if (direction == CF_VALUE || *(char *const *)args[i] != *(char *const *)args[first])
            continue;
        size_t others = bytes_of(i, bytes_of_arrays, args);
        *bytes = others > *bytes ? others : *bytes;
        *is_written |= others && direction != CF_OUT && direction != CF_SCRATCH;
        *is_input &= direction == CF_IN;
    }
}

void watch_arrays(const size_t *bytes_of_arrays, void *const args[], int is_kept)
{
    for (uint32_t i = 0; i < finding_kernel->nparams; i++) {
        const cf_param *param = &finding_kernel->params[i];
        if (param->direction == CF_VALUE)
            continue;
        size_t bytes = bytes_of(i, bytes_of_arrays, args);
        char *begin = *(char *const *)args[i];
        if (!begin || !bytes || region_find(begin))
            continue;
        int is_written = param->direction != CF_OUT && param->direction != CF_SCRATCH;
        int is_input = param->direction == CF_IN;
        join(i, bytes_of_arrays, args, &bytes, &is_written, &is_input);
        unsigned char *seen = check_is(CHECK_POISON) && !is_written ? calloc(bytes, 1) : NULL;
        see_zeros(i, args, seen, bytes);
        struct region *region = region_add(&(struct region){.begin = begin,
                                                            .bytes = bytes,
                                                            .kind = REGION_ARRAY,
                                                            .name = param->name,
                                                            .element = param->bytes,
                                                            .seen = seen,
                                                            .is_kept = is_kept,
                                                            .is_input = is_input});
        if (region && check_is(CHECK_ADDRESS))
            input_keep(region);
    }
}
