/* declared_section.h - walks over the elements of an array's section. */
#ifndef DECLARED_SECTION_H
#define DECLARED_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Returns the offset in bytes, from the array's pointer, of an element whose index counts from the section's lower
 * bounds. */
size_t section_place(const cf_section *section, const int64_t index[]);

/* Moves to the next element of a non-empty section; the last index changes fastest. Returns 0 after the last
 * element. */
int section_step(const cf_section *section, int64_t index[]);

#endif
