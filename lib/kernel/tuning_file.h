/* tuning_file.h - reads and extends the file of the fastest variants. */
#ifndef CF__TUNING_FILE_H
#define CF__TUNING_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Maximum size of a valid file in bytes. */
#define CF__TUNING_BYTES ((size_t)1 << 20)

/* A parsed line of the file. */
struct cf__tuning_line {
    const char *function, *variant; /* words in the text, not terminated */
    size_t function_length, variant_length;
    uint32_t version;
    int capability; /* compute capability times ten, or 0 for the CPU */
    int size_class;
};

/* Parses the line at *at and advances *at to the next line; returns 0 for any other kind of line. The text ends with a
 * zero byte. */
int cf__tuning_next(const char **at, struct cf__tuning_line *line);

/* Returns the second line of a text, or NULL if the first line is not the header of this format. */
const char *cf__tuning_begin(const char *text);

/* Reads a file; the caller frees the text. On failure returns NULL with a reason and `errno`, which is 0 if the file is
 * readable but too large or damaged. */
char *cf__tuning_read(const char *path, const char **reason);

/* Returns a hash of the kernel's variants, parameters and launch rule. Lines with another hash are ignored. */
uint32_t cf__tuning_version(const cf_kernel *kernel);

/* Returns 1 if the line is for this version of the kernel. */
int cf__tuning_is_of(const struct cf__tuning_line *line, const cf_kernel *kernel);

/* Returns the index of the line's variant in kernel->variants, or -1. */
int cf__tuning_variant(const struct cf__tuning_line *line, const cf_kernel *kernel);

#endif
