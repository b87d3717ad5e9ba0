/* files.h - reads whole files, and keeps small files for later processes. */
#ifndef CF__FILES_H
#define CF__FILES_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/bounds.h"

/* Writes the path of a file: the value of the environment variable `variable`, or if that is unset, cuferry/`name` in
 * $XDG_CACHE_HOME or ~/.cache. Returns 0 if the variable is empty or no cache folder is known. */
int cf__file_path(const char *variable, const char *name, char path[CF__PATH]);

/* Writes the path that cf__file_path() finds to `path`, of `size` bytes. Returns a status, whose messages name the
 * public `function`. */
int cf__file_copy_path(const char *function, const char *variable, const char *name, char *path, size_t size);

/* Creates the folder of the file `path`, and that folder's parent, if they are missing. */
void cf__file_make_folders(const char *path);

/* Reads at most `size` bytes of a regular file. Returns the number of bytes read, or -1 with `errno`. */
ssize_t cf__file_read(const char *path, char *text, size_t size);

/* Reads a whole regular file, and appends a zero byte. Returns memory that the caller frees, or NULL with `errno`. */
char *cf__file_load(const char *path, size_t *size);

/* Reads a whole regular file that is open and positioned at its beginning, and appends a zero byte. Returns memory that
 * the caller frees, or NULL with `errno`. */
char *cf__file_load_open(int file, size_t *size);

/* Writes a new file beside `name` and renames it to `name`, with the permissions of the old file. `folder` is a
 * descriptor, or AT_FDCWD. Returns 0 with `errno` on failure. */
int cf__file_replace(int folder, const char *name, const char *bytes, size_t count);

/* Writes `path` with its symbolic links resolved, even if the file does not exist. A caller that replaces the file
 * `real` leaves the links in place. Returns 0 with `errno` on failure. */
int cf__file_resolve(const char *path, char real[PATH_MAX]);

/* Creates the lock file `name` if it is missing, and waits for its lock. `folder` is a descriptor, or AT_FDCWD. Returns
 * a descriptor, or -1 with `errno`. To unlock, the caller removes the file, then closes the descriptor. */
int cf__file_lock(int folder, const char *name);

#endif
