/* declared_section.h - the section of an array that a kernel's annotation declares, in elements from the pointer. */
#ifndef DECLARED_SECTION_H
#define DECLARED_SECTION_H

#include <stdint.h>

#include <cuferry/registry.h>

struct section {
    int64_t extents[CF_ARRAY_DIMS], lowers[CF_ARRAY_DIMS], pitches[CF_ARRAY_DIMS];
    uint32_t ndims;
};

/* Section of a kernel's parameter, for these arguments in order. */
void section_measure(const cf_kernel *kernel, const cf_param *param, void *const args[], struct section *section);

/* Offset of an element whose index counts from the lower bounds. */
int64_t section_place(const struct section *section, const int64_t index[]);

int section_is_empty(const struct section *section);

/* Moves to the next element of a non-empty section, last index first; 0 after the last. */
int section_step(const struct section *section, int64_t index[]);

#endif
