/* rows.c - elements of an array as rows without gaps. */
#include <stdint.h>

#include "staging/rows.h"

size_t cf__rows_slice_offset(const struct cf__rows *rows, size_t slice)
{
    size_t offset = 0;
    for (uint32_t d = rows->nouter; d > 0; d--) {
        offset += slice % rows->extents[d - 1] * rows->strides[d - 1];
        slice /= rows->extents[d - 1];
    }
    return offset;
}
