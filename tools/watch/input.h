/* input.h - writes to arrays that in(...) declares, which a pointer to elements that are not const permits. */
#ifndef INPUT_H
#define INPUT_H

#include "watch/region.h"

/* The running thread writes to a region, or outside all regions if it is NULL; `pc` is the address after the access. */
void input_note_write(const struct region *region, const char *address, const void *pc);

/* Keeps the content of an input; finds the first byte that differs at the end of a launch. Needs no instrumentation of
 * writes, and cannot name the thread. */
void input_keep(struct region *region);
void input_compare(struct region *region);

#endif
