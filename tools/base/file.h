/* file.h - writes files whole or not at all, and removes folders. */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>

#include "base/message.h"

struct file_part {
    const void *data;
    size_t bytes;
};

/* Writes the parts one after the other. The file appears under its name when it is complete, in place of what was there,
 * with its mode; a symbolic link stays one. A target that exists and is not a regular file, such as /dev/null, is written
 * to as it is. -1 with a line that begins with the path. */
int file_write(const char *path, const struct file_part *parts, size_t count, struct message *message);

/* Whether file_write() can begin, for what takes long before it writes; -1 with a line that begins with the path. */
int file_check(const char *path, struct message *message);

/* Removes a folder and the files in it. */
void file_remove_folder(const char *path);

#endif
