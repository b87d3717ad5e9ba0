/* npy.h - arrays in NumPy's .npy files: described, read, written.
 *
 * Every function returns 0, or -1 with one line in `message` that begins with the file's path. Nothing is printed. */
#ifndef NPY_H
#define NPY_H

#include "data/element.h"
#include "base/message.h"

/* The most dimensions that are read; NumPy itself had this limit up to version 1. */
#define NPY_DIMS 32

/* What an array is: elements of one type in C order. A shape of no dimensions has one element. A file has vectors as
 * arrays of their components, with one dimension more. */
struct npy_array {
    struct element_type type;
    const char *descr; /* what a file calls the type, where that is not to be made of `type`; the file's */
    uint32_t ndims;
    int64_t shape[NPY_DIMS];
    size_t count, bytes; /* see npy_measure() */
};

/* A file that is open for reading. */
struct npy_file {
    struct npy_array array;
    const char *path; /* the caller's */
    int fd;
    size_t begin; /* of the elements in the file */
    char *descr;
};

/* Works out count and bytes from type and shape; -1, without a message, past PTRDIFF_MAX bytes. */
int npy_measure(struct npy_array *array);

/* Opens a regular file of format version 1.0, 2.0 or 3.0 and describes its array, having compared the file's size with
 * it. Everything but npy_read() can be decided on that. The path must outlive the file. */
int npy_open(struct npy_file *file, const char *path, struct message *message);

/* Reads the elements, array.bytes bytes. */
int npy_read(const struct npy_file *file, void *elements, struct message *message);

/* Closes the file; its description stays until npy_free(). */
void npy_close(struct npy_file *file);
void npy_free(struct npy_file *file);

/* Writes a file of format version 1.0. It appears under its name when it is complete, in place of what was there; a
 * target that exists and is not a regular file, such as /dev/null, is written to as it is. */
int npy_write(const char *path, const struct npy_array *array, const void *elements, struct message *message);

#endif
