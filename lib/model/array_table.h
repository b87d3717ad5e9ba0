/* array_table.h - the compact table of a kernel's arrays. */
#ifndef CF__ARRAY_TABLE_H
#define CF__ARRAY_TABLE_H

#include <stdint.h>

#include <cuferry/registry.h>

/* One-dimensional arrays of a kernel, in a compact form for the fast path of the plain call. The parts of the
 * descriptor are far apart in memory, and each would cost a cache miss. */
enum { CF__TABLE_ARRAYS = 5 };
struct cf__array_table {
    int8_t count;               /* number of arrays; -1: an array has several dimensions, a lower bound or a computed
                                 * extent, or there are more than CF__TABLE_ARRAYS */
    uint8_t has_element_checks; /* 1 if the annotation restricts values of elements */
    struct cf__table_array {
        uint8_t pointer, extent; /* numbers of the parameters that have the pointer and the extent */
        uint16_t is_wide : 1;    /* 1 if the extent has 64 bits, 0 if it has 32 */
        uint16_t apart : 4;      /* bit j: array j of the table must not overlap this array */
        uint16_t in_place : 4;   /* bit j: array j may nevertheless begin where this array begins */
        uint16_t mask : 7;       /* low bits of the pointer that must be 0 */
        uint32_t bytes;          /* size of an element in bytes */
    } arrays[CF__TABLE_ARRAYS];
};

void cf__array_table_fill(const cf_kernel *kernel, struct cf__array_table *table);

#endif
