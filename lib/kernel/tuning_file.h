/* tuning_file.h - files of measured variants. */
#ifndef CF__TUNING_FILE_H
#define CF__TUNING_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* The most bytes of a file: a larger one is none. */
#define CF__TUNING_BYTES ((size_t)1 << 20)

/* One line of a file, cut into words. */
struct cf__tuning_line {
    const char *function, *variant; /* not closed by a 0 */
    size_t function_length, variant_length;
    uint32_t version;
    int capability; /* times ten; 0: the CPU */
    int size_class;
};

/* Reads the line at *at and moves *at to the next; 0 where it is none. The text is closed by a 0. */
int cf__tuning_next(const char **at, struct cf__tuning_line *line);

/* Behind the first line, which says what the file is; NULL where it is none. */
const char *cf__tuning_begin(const char *text);

/* Reads a file; NULL with a reason where there is none that can be used, and with errno, which is 0 where it was read
 * and is damaged. Freed by the caller. */
char *cf__tuning_read(const char *path, const char **reason);

/* Of the variants: changes with them, and with what else decides how a kernel is called. */
uint32_t cf__tuning_version(const cf_kernel *kernel);

/* Whether a line is of that kernel; and the number of its variant, -1 where it has no such one. */
int cf__tuning_is_of(const struct cf__tuning_line *line, const cf_kernel *kernel);
int cf__tuning_variant(const struct cf__tuning_line *line, const cf_kernel *kernel);

#endif
