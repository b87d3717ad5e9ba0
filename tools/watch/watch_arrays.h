/* watch_arrays.h - the named memory that a checked kernel may touch. */
#ifndef WATCH_ARRAYS_H
#define WATCH_ARRAYS_H

#include <stddef.h>

/* Registers arrays and scratch memory of `finding_kernel` by name. `bytes` has the size of each array; NULL: the
 * declared sizes. Existing regions stay. */
void watch_arrays(const size_t *bytes, void *const args[], int is_kept);

/* Registers the module's writable data. */
void watch_data(const char *module_path);

#endif
