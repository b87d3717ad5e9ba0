/* section.h - sections: elements of array arguments. */
#ifndef CF__SECTION_H
#define CF__SECTION_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

struct cf__rows;

/* The elements of an array argument, as cf__section_measure() computes and checks them. */
struct cf__section {
    int64_t count; /* number of elements; if 0, no other field counts */
    size_t offset; /* bytes from the array's pointer to the first element */
    size_t span;   /* bytes from the first element to the end of the last element */
    uint32_t ndims;
    int64_t lowers[CF_ARRAY_DIMS], extents[CF_ARRAY_DIMS];
    size_t strides[CF_ARRAY_DIMS]; /* bytes between neighbours in each dimension */
};

/* Computes the section of array parameter `i`; returns a status. */
int cf__section_measure(const cf_kernel *kernel, uint32_t i, void *const args[], struct cf__section *section);

/* The same; reports no error if `report` is 0. */
int cf__section_try(const cf_kernel *kernel, uint32_t i, void *const args[], struct cf__section *section, int report);

/* Computes the offset from the array's pointer and the number of bytes to clear, which may be 0; returns a status, and
 * reports an error unless `report` is 0. */
int cf__section_zero(const cf_kernel *kernel, const cf_zero *zero, void *const args[], size_t *offset, size_t *bytes,
                     int report);

/* Computes the rows of a section with elements of `element` bytes. */
void cf__section_rows(const struct cf__section *section, size_t element, struct cf__rows *rows);

#endif
