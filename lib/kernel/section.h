/* section.h - elements of an array argument. */
#ifndef CF__SECTION_H
#define CF__SECTION_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"

struct cf__rows;
struct cf__scope;

/* Where the elements of an array argument lie; worked out and checked by cf__section_measure(). */
struct cf__section {
    int64_t count; /* of its elements; 0: there are none, and the rest says nothing */
    size_t offset; /* bytes from the array's pointer to its first element */
    size_t span;   /* bytes from there to the end of its last element */
    uint32_t ndims;
    int64_t lowers[CF_ARRAY_DIMS], extents[CF_ARRAY_DIMS];
    size_t strides[CF_ARRAY_DIMS]; /* bytes from an element to the next in each dimension */
};
int cf__section_measure(const cf_kernel *kernel, uint32_t i, void *const args[], struct cf__section *section);

/* What of a scratch array, whose section was worked out, is to be 0: bytes from the array's pointer on; there may be
 * none. */
int cf__zero(const cf_kernel *kernel, const cf_zero *zero, void *const args[], const struct cf__section *section,
             size_t *offset, size_t *bytes);

/* The rows of a section. */
void cf__section_rows(const struct cf__section *section, size_t element, struct cf__rows *rows);

/* Copies a section between host memory and device memory, where it lies alike; both point to its first element. `call`
 * is what does it. */
CUresult cf__copy_section(const struct cf__scope *scope, const struct cf__section *section, size_t element, void *host,
                          void *device, int to_host, const char **call);

#endif
