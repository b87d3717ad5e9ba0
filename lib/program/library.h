/* library.h - opens a library of the CUDA toolkit at run time, and looks up a table of its functions. */
#ifndef CF__LIBRARY_H
#define CF__LIBRARY_H

#include <stddef.h>

#include "base/files.h"

struct cf__library_function {
    const char *name;
    size_t offset; /* offset of the pointer in the table */
};

/* Fills `table`. The library at `path` stays open until the process ends; messages call it `what`. If it lacks the
 * function `optional`, the pointer of that function becomes NULL. Returns a status, whose message names `function`. */
int cf__library_open(const char *function, const char *what, const char *path,
                     const struct cf__library_function *functions, size_t count, const char *optional, void *table);

/* Returns CF_OK if the major version is that of CUDA 12 or 13. */
int cf__library_check_major(const char *function, const char *path, int major, int minor);

#endif
