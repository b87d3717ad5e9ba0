/* section.h - measures sections, which are the elements that a kernel uses of an array argument. */
#ifndef CF__SECTION_H
#define CF__SECTION_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

struct cf__operands;
struct cf__rows;

/* Computes the section of array parameter `i`; returns a status. */
int cf__section_measure(const cf_kernel *kernel, uint32_t i, void *const args[], cf_section *section);

/* Computes the part of an array that zero(...) clears: its offset from the array's pointer and its size in bytes, which
 * may be 0. Returns a status. */
int cf__section_zero(const struct cf__operands *of, const cf_zero *zero, size_t *offset, size_t *bytes);

/* Computes the rows of a section with elements of `element` bytes. */
void cf__section_rows(const cf_section *section, size_t element, struct cf__rows *rows);

#endif
