/* npy.c - reads and writes arrays in NumPy's .npy files.
 *
 * The format is that of NumPy enhancement proposal 1: "\x93NUMPY", a version, the length of the header, a header that
 * is a Python dictionary of 'descr', 'fortran_order' and 'shape', and the elements. */
#include "data/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/dtype.h"
#include "base/file.h"
#include "data/literal.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy.c reads and writes little-endian elements as they lie in memory"
#endif

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
#define ALIGNMENT 64            /* alignment of the elements in a file in bytes, as NumPy aligns them */
#define HEADER_LIMIT (1 << 20)  /* most bytes of a header; that of a plain array has about 100 */
#define DESCR_LIMIT 60000       /* most bytes of a 'descr', as a header of version 1.0 has at most 65535 */
#define CHUNK ((size_t)1 << 30) /* most bytes for one read(), which reads at most 2 GiB */

int npy_measure(struct npy_array *array)
{
    int64_t count = 1, bytes = 0;
    int overflow = 0, empty = 0;
    for (uint32_t d = 0; d < array->ndims; d++) {
        empty |= array->shape[d] == 0;
        overflow |= __builtin_mul_overflow(count, array->shape[d], &count);
    }
    if (empty) /* even if the other dimensions overflow */
        count = overflow = 0;
    overflow |= __builtin_mul_overflow(count, (int64_t)array->type.bytes, &bytes);
    if (overflow || bytes > PTRDIFF_MAX)
        return -1;
    array->count = (size_t)count;
    array->bytes = (size_t)bytes;
    return 0;
}

/* ---- The header's dictionary ---- */

static int bad_header(const char *path, const char *what, struct message *message)
{
    return message_set(message, "%s: its header has no valid %s", path, what);
}

static int parse_shape(struct literal *literal, const char *path, struct npy_array *array, struct message *message)
{
    int comma = 1, fits = 1;
    array->ndims = 0;
    if (!literal_accept(literal, "("))
        return bad_header(path, "shape", message);
    while (!literal_accept(literal, ")")) {
        int64_t value;
        if (!comma || !literal_integer(literal, &value, &fits))
            return bad_header(path, "shape", message);
        if (array->ndims == NPY_DIMS)
            return message_set(message, "%s: it has more than %d dimensions", path, NPY_DIMS);
        array->shape[array->ndims++] = value;
        comma = literal_accept(literal, ",");
    }
    if (array->ndims == 1 && !comma) /* in Python, "(3)" is a number, not a tuple */
        return bad_header(path, "shape", message);
    return fits ? 0 : message_set(message, "%s: its shape is too large", path);
}

/* Returns 1 if a header of version 1.0 can hold this 'descr', which must be ASCII and short enough. */
static int is_portable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] > 0x7e)
            return 0;
    return length < DESCR_LIMIT;
}

/* Reads the 'descr', and keeps that of a structure as it was written, for an output file of the same type. */
static int parse_type(struct literal *literal, struct npy_file *file, struct message *message)
{
    struct npy_array *array = &file->array;
    literal_skip(literal);
    const char *begin = literal->at;
    if (dtype_parse(literal, file->path, &array->type, message) != 0)
        return -1;
    size_t length = (size_t)(literal->at - begin);
    if (array->type.type != CF_OPAQUE || !is_portable(begin, length))
        return 0;
    array->descr = file->descr = strndup(begin, length);
    return file->descr ? 0 : message_set(message, "%s: no memory for its header", file->path);
}

static int parse_order(struct literal *literal, const char *path, int *fortran, struct message *message)
{
    *fortran = literal_accept(literal, "True");
    return *fortran || literal_accept(literal, "False") ? 0 : bad_header(path, "fortran_order", message);
}

static int parse_header(struct literal literal, struct npy_file *file, struct message *message)
{
    const char *path = file->path;
    struct npy_array *array = &file->array;
    enum { TYPE = 1, ORDER = 2, SHAPE = 4, ALL = 7 };
    int seen = 0, fortran = 0, comma = 1;
    if (!literal_accept(&literal, "{"))
        return bad_header(path, "dictionary", message);
    while (!literal_accept(&literal, "}")) {
        char key[32];
        if (!comma || !literal_string(&literal, key, sizeof key) || !literal_accept(&literal, ":"))
            return bad_header(path, "dictionary", message);
        int field = strcmp(key, "descr") == 0 ? TYPE : strcmp(key, "fortran_order") == 0 ? ORDER : 0;
        if (strcmp(key, "shape") == 0)
            field = SHAPE;
        if (field == 0 || seen & field)
            return message_set(message, "%s: its header has the key '%s'%s", path, key, field ? " twice" : ", unknown");
        int status = field == TYPE    ? parse_type(&literal, file, message)
                     : field == ORDER ? parse_order(&literal, path, &fortran, message)
                                      : parse_shape(&literal, path, array, message);
        if (status != 0)
            return status;
        seen |= field;
        comma = literal_accept(&literal, ",");
    }
    literal_skip(&literal);
    if (literal.at < literal.end)
        return bad_header(path, "dictionary", message);
    if (seen != ALL)
        return bad_header(path, seen & TYPE ? seen & ORDER ? "shape" : "fortran_order" : "descr", message);
    if (fortran && array->ndims > 1)
        return message_set(message, "%s: it is in Fortran order; C order is read", path);
    return npy_measure(array) == 0 ? 0 : message_set(message, "%s: its shape is too large", path);
}

/* ---- Reading ---- */

/* Reads exactly `size` bytes at `offset`. */
static int read_at(const struct npy_file *file, void *target, size_t size, size_t offset, struct message *message)
{
    for (size_t done = 0; done < size;) {
        size_t part = size - done < CHUNK ? size - done : CHUNK;
        ssize_t got = pread(file->fd, (char *)target + done, part, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return message_set(message, "%s: %s", file->path, strerror(errno));
        if (got == 0)
            return message_set(message, "%s: it is truncated", file->path);
        done += (size_t)got;
    }
    return 0;
}

/* Reads all that precedes the elements, in a file of `size` bytes. */
static int read_header(struct npy_file *file, size_t size, struct message *message)
{
    unsigned char prefix[MAGIC_SIZE + 6]; /* magic, version, length of the header in 2 or 4 bytes */
    size_t length_end = MAGIC_SIZE + 4;
    if (size < length_end)
        return message_set(message, "%s: it is no .npy file", file->path);
    if (read_at(file, prefix, length_end, 0, message) != 0)
        return -1;
    if (memcmp(prefix, MAGIC, MAGIC_SIZE) != 0)
        return message_set(message, "%s: it is no .npy file", file->path);
    int major = prefix[MAGIC_SIZE], minor = prefix[MAGIC_SIZE + 1];
    if (major < 1 || major > 3 || minor != 0)
        return message_set(message, "%s: its format version is %d.%d; 1.0, 2.0 and 3.0 are read", file->path, major,
                           minor);
    size_t length = prefix[8] | (size_t)prefix[9] << 8;
    if (major > 1) {
        length_end += 2;
        if (size < length_end)
            return message_set(message, "%s: it is truncated", file->path);
        if (read_at(file, prefix + 10, 2, 10, message) != 0)
            return -1;
        length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    }
    if (length > size - length_end)
        return message_set(message, "%s: it is truncated: its header has %zu bytes and the file %zu", file->path,
                           length, size);
    if (length > HEADER_LIMIT)
        return message_set(message, "%s: its header has %zu bytes; up to %d are read", file->path, length,
                           HEADER_LIMIT);
    char *header = malloc(length + 1);
    if (!header)
        return message_set(message, "%s: no memory for its header", file->path);
    int status = read_at(file, header, length, length_end, message);
    if (status == 0)
        status = parse_header((struct literal){header, header + length}, file, message);
    free(header);
    file->begin = length_end + length;
    return status;
}

/* Reads the header of an open file. */
static int inspect(struct npy_file *file, struct message *message)
{
    struct stat info;
    if (fstat(file->fd, &info) != 0)
        return message_set(message, "%s: %s", file->path, strerror(errno));
    size_t size = (size_t)info.st_size;
    if (read_header(file, size, message) != 0)
        return -1;
    size_t present = size - file->begin;
    if (present < file->array.bytes)
        return message_set(message, "%s: it is truncated: its elements take %zu bytes and %zu are there", file->path,
                           file->array.bytes, present);
    if (present > file->array.bytes)
        return message_set(message, "%s: it has %zu bytes after its elements", file->path, present - file->array.bytes);
    return 0;
}

int npy_open(struct npy_file *file, const char *path, struct message *message)
{
    *file = (struct npy_file){.path = path};
    file->fd = file_open(path, message);
    if (file->fd < 0)
        return -1;
    int status = inspect(file, message);
    if (status != 0)
        npy_free(file);
    return status;
}

int npy_read(const struct npy_file *file, void *elements, struct message *message)
{
    return read_at(file, elements, file->array.bytes, file->begin, message);
}

void npy_close(struct npy_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
}

void npy_free(struct npy_file *file)
{
    npy_close(file);
    free(file->descr);
    file->descr = NULL;
    file->array.descr = NULL;
}

/* ---- Writing ---- */

/* Returns the header, which the caller frees; NULL without memory. */
static char *make_header(const struct npy_array *array, size_t *size)
{
    char made[DTYPE_TEXT], *header;
    const char *descr = array->descr ? array->descr : made;
    dtype_format(&array->type, made);
    size_t limit = strlen(descr) + (NPY_DIMS + 1) * 24 + 2 * ALIGNMENT + 128, used = MAGIC_SIZE + 4;
    /* In a file, a vector's components are one more dimension. */
    uint32_t ndims = array->ndims + (array->type.lanes > 1 && !array->descr);
    header = malloc(limit);
    if (!header)
        return NULL;
    used += (size_t)sprintf(header + used, "{'descr': %s, 'fortran_order': False, 'shape': (", descr);
    for (uint32_t d = 0; d < ndims; d++)
        used += (size_t)sprintf(header + used, "%s%" PRId64 "%s", d ? ", " : "",
                                d < array->ndims ? array->shape[d] : (int64_t)array->type.lanes, ndims == 1 ? "," : "");
    used += (size_t)sprintf(header + used, "), }");
    while ((used + 1) % ALIGNMENT)
        header[used++] = ' ';
    header[used++] = '\n';
    memcpy(header, MAGIC "\x01", MAGIC_SIZE + 2); /* version 1.0, whose second byte is the string's final 0 */
    header[MAGIC_SIZE + 2] = (char)((used - MAGIC_SIZE - 4) & 0xff);
    header[MAGIC_SIZE + 3] = (char)((used - MAGIC_SIZE - 4) >> 8);
    *size = used;
    return header;
}

int npy_write(const char *path, const struct npy_array *array, const void *elements, struct message *message)
{
    size_t size = 0;
    char *header = make_header(array, &size);
    if (!header)
        return message_set(message, "%s: no memory", path);
    const struct file_part parts[] = {{header, size}, {elements, array->bytes}};
    int status = file_write(path, parts, 2, message);
    free(header);
    return status;
}
