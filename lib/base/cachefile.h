/* cachefile.h - small text files that one process keeps for the next. */
#ifndef CF__CACHEFILE_H
#define CF__CACHEFILE_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#define CF__PATH 4096

/* The path of a file: what the environment's `variable` says, or where it is not set cuferry/NAME in $XDG_CACHE_HOME or
 * ~/.cache; 0: there is none, as where the variable is empty. */
int cf__cache_path(const char *variable, const char *name, char path[CF__PATH]);

/* The same for a public function of that name, with room for `size` bytes. */
int cf__cache_tell_path(const char *function, const char *variable, const char *name, char *path, size_t size);

/* Makes the folders of the path's file, as far as they are missing below the last one but two. */
void cf__cache_folders(const char *path);

/* Reads at most `size` bytes of a regular file; -1 with errno where that cannot be. */
ssize_t cf__cache_read(const char *path, char *text, size_t size);

/* Writes where links lead, also to a file that is not there yet, so that the file itself is replaced; 0 with errno. */
int cf__cache_follow(const char *path, char real[PATH_MAX]);

/* Opens and locks the file of that name, which is made; -1 with errno. The caller removes the file, then closes it. */
int cf__cache_lock(const char *name);

#endif
