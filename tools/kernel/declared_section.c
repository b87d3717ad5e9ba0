/* declared_section.c - walks over the elements of an array's section. */
#include "kernel/declared_section.h"

size_t section_place(const cf_section *section, const int64_t index[])
{
    size_t at = section->offset;
    for (uint32_t d = 0; d < section->ndims; d++)
        at += (size_t)index[d] * section->strides[d];
    return at;
}

int section_step(const cf_section *section, int64_t index[])
{
    for (uint32_t d = section->ndims; d-- > 0;) {
        if (++index[d] < section->extents[d])
            return 1;
        index[d] = 0;
    }
    return 0;
}
