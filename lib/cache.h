/* cache.h - small text files that one process keeps for the next. */
#ifndef CF__CACHE_H
#define CF__CACHE_H

#include <sys/types.h>

#define CF__PATH 4096

/* The path of a file: `file`, or where that is NULL or empty cuferry/NAME in $XDG_CACHE_HOME or ~/.cache; 0: there is
 * none. */
int cf__cache_path(const char *file, const char *name, char path[CF__PATH]);

/* Makes the folders of the path's file, as far as they are missing below the last one but two. */
void cf__cache_folders(const char *path);

/* Reads at most `size` bytes of a regular file; -1 with errno where that cannot be. */
ssize_t cf__cache_read(const char *path, char *text, size_t size);

/* Writes all of a text; 0 with errno where that cannot be. */
int cf__cache_write(int file, const char *text, size_t size);

#endif
