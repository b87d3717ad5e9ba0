/* declared_section.h - the section of an array that a kernel's annotation declares, in elements from where its pointer
 * points. */
#ifndef DECLARED_SECTION_H
#define DECLARED_SECTION_H

#include <stdint.h>

#include <cuferry/registry.h>

struct section {
    int64_t extents[CF_ARRAY_DIMS], lowers[CF_ARRAY_DIMS], pitches[CF_ARRAY_DIMS];
    uint32_t ndims;
};

/* The section of a parameter of a kernel that was called with these arguments, which are in order. */
void section_measure(const cf_kernel *kernel, const cf_param *param, void *const args[], struct section *section);

/* The place of an element, whose index counts from the lower bounds. */
int64_t section_place(const struct section *section, const int64_t index[]);

int section_is_empty(const struct section *section);

/* Steps to the next element of a section that is not empty, the last index first; 0 past the last. */
int section_step(const struct section *section, int64_t index[]);

#endif
