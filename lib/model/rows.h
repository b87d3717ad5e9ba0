/* rows.h - describes the elements of an array as rows without gaps. */
#ifndef CF__ROWS_H
#define CF__ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* The elements of an array as rows without gaps, as few as possible. There are `slices` slices of `rows` rows each. */
struct cf__rows {
    size_t length, rows, pitch; /* bytes of a row; rows of a slice; bytes from the start of one row to the next */
    size_t slices;
    uint32_t nouter;                                       /* number of dimensions that lead from slice to slice,
                                                            * outermost first */
    size_t extents[CF_ARRAY_DIMS], strides[CF_ARRAY_DIMS]; /* extents and strides in bytes of these dimensions */
};

/* Returns the distance in bytes from the first element to the first byte of a slice. */
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
