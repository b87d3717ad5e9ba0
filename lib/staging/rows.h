/* rows.h - elements of an array as rows without gaps. */
#ifndef CF__ROWS_H
#define CF__ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Elements of an array as `slices` times `rows` rows of `length` bytes that lie without gaps: as few rows as can be. */
struct cf__rows {
    size_t length, rows, pitch; /* bytes of a row, rows of a slice, bytes from one to the next */
    size_t slices;
    uint32_t nouter; /* dimensions that tell the slices apart, outermost first */
    size_t extents[CF_ARRAY_DIMS], strides[CF_ARRAY_DIMS];
};

size_t cf__rows_slice_offset(const struct cf__rows *rows,
                             size_t slice); /* bytes from the first element to that slice */

#endif
