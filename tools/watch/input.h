/* input.h - finds writes to arrays that in(...) declares. The compiler accepts them if the pointer's elements are not
 * const. */
#ifndef INPUT_H
#define INPUT_H

#include "watch/region.h"

/* Records that the running thread writes to a region; NULL: outside all regions. `pc` is the address after the
 * access. */
void input_note_write(const struct region *region, const char *address, const void *pc);

/* Keep the contents of an input, and report the first byte that differs at the end of a launch. They need no
 * instrumented writes, but cannot name the thread. */
void input_keep(struct region *region);
void input_compare(struct region *region);

#endif
