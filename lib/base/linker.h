/* linker.h - finds a library as the dynamic linker would, without loading it. */
#ifndef CF__LINKER_H
#define CF__LINKER_H

#include "base/bounds.h"

/* Writes the path of the file that dlopen(name) would load. Searches the folders of LD_LIBRARY_PATH, of the program and
 * of the system, and the linker's cache. Returns 1; 0 if no file is found, in a static program, or without glibc; -1 if
 * there is no memory. */
int cf__linker_find(const char *name, char path[CF__PATH]);

/* Returns 1 if the file is shorter than its segments need. The dynamic linker would map such a file and die of
 * SIGBUS. */
int cf__linker_is_cut_off(const char *path);

#endif
