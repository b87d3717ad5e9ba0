/* rows.h - elements of an array as rows without gaps. */
#ifndef CF__ROWS_H
#define CF__ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Elements of an array as the fewest rows without gaps: `slices` times `rows` rows. */
struct cf__rows {
    size_t length, rows, pitch; /* bytes of a row; rows of a slice; bytes between the starts of two rows */
    size_t slices;
    uint32_t nouter;                                       /* dimensions across slices, outermost first */
    size_t extents[CF_ARRAY_DIMS], strides[CF_ARRAY_DIMS]; /* of these dimensions; strides in bytes */
};

/* Returns the bytes between the first element and a slice. */
static inline size_t cf__rows_slice_offset(const struct cf__rows *rows, size_t slice)
{
    size_t offset = 0;
    for (uint32_t d = rows->nouter; d > 0; d--) {
        offset += slice % rows->extents[d - 1] * rows->strides[d - 1];
        slice /= rows->extents[d - 1];
    }
    return offset;
}

#endif
