/* verify_arrays.h - the arrays of a call that is verified: where sections lie, random elements, what was written. */
#ifndef VERIFY_ARRAYS_H
#define VERIFY_ARRAYS_H

#include <cuferry/registry.h>

#include "data/compare.h"
#include "kernel/inplace.h"
#include "data/make.h"
#include "base/message.h"
#include "data/npy.h"

/* One array's section in memory. */
struct verify_array {
    struct npy_array section;       /* its elements, as if nothing lay between them */
    int64_t lowers[CF_ARRAY_DIMS];  /* the first element in each dimension */
    int64_t strides[CF_ARRAY_DIMS]; /* in elements */
    size_t bytes;                   /* from element 0 to the section's end; 0 where it is empty */
    struct make make;               /* how its elements are made, where it is read */
};

/* Describes all arrays of a call with these values; -1 where there cannot be such arrays: extents below 0, more bytes
 * than `limit` in all, checks that no element can pass. Parameters that are no arrays stay as they are. */
int verify_arrays_measure(const cf_kernel *kernel, void *const args[], uint64_t seed, size_t limit,
                          struct verify_array *arrays);

/* Whether the elements of parameter i should differ from one another. */
int verify_array_is_distinct(const cf_kernel *kernel, uint32_t i);

/* Bytes in front of an array and behind it that nothing may write: as many as the largest block writes that lacks its
 * guard. */
#define VERIFY_GUARD ((size_t)64 << 10)

/* An array in memory, and `guard` bytes in front of it and behind: poisoned everywhere, its section filled where it is
 * read. NULL where there is no memory; freed by the caller. It has as many bytes as the other one says. */
void *verify_array_make(const struct verify_array *array, int is_read, int poison, size_t guard);
size_t verify_array_room(const struct verify_array *array, size_t guard);

/* Copies the section's elements into `packed`; the number of bytes beside it that are not what they were in `before`,
 * NULL: poison, any more. */
size_t verify_array_take(const struct verify_array *array, const void *memory, const void *before, int poison,
                         size_t guard, void *packed);

/* Has these arrays be one: its home is the number of the largest of them, where the elements of all are those of one that
 * is read, within the ranges of all. -1 where they are of other sizes or strides, or empty. */
int verify_arrays_join(const cf_kernel *kernel, const struct inplace *which, struct verify_array *arrays,
                       uint32_t *home);

/* How many elements hold one poison in one result and the other in the other: neither run wrote them. `first`: the
 * first of them. */
size_t verify_array_unwritten(const struct verify_array *array, const void *one, int poison, const void *other,
                              int other_poison, size_t *first);

/* Adds "[17]" or "[3][5]" for the number of an element of the section. */
void verify_array_index(const struct verify_array *array, size_t number, struct message *message);

#endif
