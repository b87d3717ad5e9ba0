/* declared_section.c - the section of an array that a kernel's annotation declares. */
#include "kernel/declared_section.h"

#include <cuferry.h>

static int64_t value_of(const cf_kernel *kernel, const cf_expr *expr, void *const args[], int64_t absent)
{
    int64_t value;
    return expr && expr->ops && cf_kernel_evaluate(kernel, expr->ops, SIZE_MAX, args, &value) == CF_OK ? value : absent;
}

void section_measure(const cf_kernel *kernel, const cf_param *param, void *const args[], struct section *section)
{
    section->ndims = param->ndims;
    for (uint32_t d = 0; d < param->ndims; d++) {
        section->extents[d] = value_of(kernel, &param->extents[d], args, 0);
        section->lowers[d] = param->lowers ? value_of(kernel, &param->lowers[d], args, 0) : 0;
        section->pitches[d] =
            param->pitches ? value_of(kernel, &param->pitches[d], args, section->extents[d]) : section->extents[d];
    }
}

int64_t section_place(const struct section *section, const int64_t index[])
{
    int64_t at = 0;
    for (uint32_t d = 0; d < section->ndims; d++)
        at = at * (d ? section->pitches[d] : 1) + section->lowers[d] + index[d];
    return at;
}

int section_is_empty(const struct section *section)
{
    for (uint32_t d = 0; d < section->ndims; d++)
        if (section->extents[d] <= 0)
            return 1;
    return 0;
}

int section_step(const struct section *section, int64_t index[])
{
    for (uint32_t d = section->ndims; d-- > 0;) {
        if (++index[d] < section->extents[d])
            return 1;
        index[d] = 0;
    }
    return 0;
}
