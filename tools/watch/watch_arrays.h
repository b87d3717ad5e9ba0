/* watch_arrays.h - registers the memory that a checked kernel may access, with names. */
#ifndef WATCH_ARRAYS_H
#define WATCH_ARRAYS_H

#include <stddef.h>

/* Registers the arrays and scratch memory of `finding_kernel`. `bytes` has the size of each array; NULL: the declared
 * sizes. Regions that exist already are not changed. */
void watch_arrays(const size_t *bytes, void *const args[], int is_kept);

/* Registers the module's writable data. */
void watch_data(const char *module_path);

#endif
