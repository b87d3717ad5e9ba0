/* watch_arrays.h - the memory that a checked kernel may touch, known by its names. */
#ifndef WATCH_ARRAYS_H
#define WATCH_ARRAYS_H

#include <stddef.h>

/* Has the arrays and the scratch memory of `finding_kernel` known by their names. `bytes` has the size of each array;
 * NULL: it is as declared. Those that are there stay as they are. */
void watch_arrays(const size_t *bytes, void *const args[], int is_kept);

/* Has what the module can write of its own known. */
void watch_data(const char *module_path);

#endif
