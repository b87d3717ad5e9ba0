/* npy.h - reads and writes arrays in NumPy's .npy files.
 *
 * Every function returns 0, or -1 with one line in `message` that begins with the file's path. Nothing is printed. */
#ifndef NPY_H
#define NPY_H

#include "data/element.h"
#include "base/message.h"

/* Largest number of dimensions, NumPy's own limit up to version 1. */
#define NPY_DIMS 32

/* An array of one type in C order. A shape without dimensions has one element. In a file, a vector is an array of
 * components, with one more dimension. */
struct npy_array {
    struct element_type type;
    const char *descr; /* the file's 'descr', if `type` does not determine it; owned by the file */
    uint32_t ndims;
    int64_t shape[NPY_DIMS];
    size_t count, bytes; /* see npy_measure() */
};

/* A file that is open for reading. */
struct npy_file {
    struct npy_array array;
    const char *path; /* owned by the caller */
    int fd;
    size_t begin; /* offset of the elements in bytes */
    char *descr;
};

/* Computes count and bytes from type and shape. Returns -1, without a message, past PTRDIFF_MAX bytes. */
int npy_measure(struct npy_array *array);

/* Opens a regular file of format version 1.0, 2.0 or 3.0, describes its array and checks the file's size. The path must
 * outlive the file. */
int npy_open(struct npy_file *file, const char *path, struct message *message);

/* Reads all elements, array.bytes bytes. */
int npy_read(const struct npy_file *file, void *elements, struct message *message);

/* Closes the file. Its description stays valid until npy_free(). */
void npy_close(struct npy_file *file);
void npy_free(struct npy_file *file);

/* Writes a file of format version 1.0. A complete file replaces an earlier one of that name. An existing target that is
 * no regular file, such as /dev/null, is written in place. */
int npy_write(const char *path, const struct npy_array *array, const void *elements, struct message *message);

#endif
