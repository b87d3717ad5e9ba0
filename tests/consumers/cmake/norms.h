/* norms.h - the library's own interface. */
#ifndef NORMS_H
#define NORMS_H

#include <stdint.h>

/* Returns the largest of `count` distances; -1 if there are none or the call fails. */
int64_t largest_distance(const int64_t *distances, int64_t count);

#endif
