/* file.h - writes complete files, opens files for reading, and removes folders. */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>

#include "base/message.h"

struct file_part {
    const void *data;
    size_t bytes;
};

/* Writes the parts in order. The complete file replaces an earlier file of that name and keeps its mode; if that name
 * is a symbolic link, the file that it points to is replaced. An existing target that is no regular file, such as
 * /dev/null, is written in place. Returns 0, or -1 with a message that begins with the path. */
int file_write(const char *path, const struct file_part *parts, size_t count, struct message *message);

/* Opens a regular file for reading. Returns its descriptor, or -1 with a message that begins with the path and says
 * what else is there; a pipe fails at once, without waiting for its writer. */
int file_open(const char *path, struct message *message);

/* Checks before long work that file_write() will be able to begin. Returns 0, or -1 with a message that begins with the
 * path. */
int file_check(const char *path, struct message *message);

/* Removes a folder and the files in it. */
void file_remove_folder(const char *path);

#endif
