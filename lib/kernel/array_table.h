/* array_table.h - a table of a kernel's arrays. */
#ifndef CF__ARRAY_TABLE_H
#define CF__ARRAY_TABLE_H

#include <stdint.h>

#include <cuferry/registry.h>

/* What the plain call asks of a kernel's arrays, in one place: the descriptor's parts lie far apart, and each costs it
 * what a miss of the cache costs. */
enum { CF__TABLE_ARRAYS = 5 };
struct cf__arrays {
    int8_t count;       /* -1: an array has several dimensions or a lower bound, an extent is worked out, or there are
                           more */
    uint8_t has_ranges; /* of elements */
    struct cf__one_dimension {
        uint8_t pointer, extent; /* the numbers of these parameters */
        uint16_t is_wide : 1;    /* the extent has 64 bits, not 32 */
        uint16_t apart : 4;      /* arrays before this one that must not overlap it, as bits */
        uint16_t in_place : 4;   /* of these, those that may begin where it does */
        uint16_t mask : 7;       /* bits of the pointer that are 0 */
        uint32_t bytes;          /* of an element */
    } arrays[CF__TABLE_ARRAYS];
};

void cf__array_table(const cf_kernel *kernel, struct cf__arrays *arrays);

#endif
