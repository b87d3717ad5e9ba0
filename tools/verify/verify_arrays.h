/* verify_arrays.h - the arrays of a verified call: positions of sections, random elements, detection of writes. */
#ifndef VERIFY_ARRAYS_H
#define VERIFY_ARRAYS_H

#include <cuferry/registry.h>

#include "data/compare.h"
#include "kernel/inplace.h"
#include "data/make.h"
#include "base/message.h"
#include "data/npy.h"

/* Members of the elements of one array that checks bound, at most; others have any numbers. */
#define VERIFY_MEMBERS 32

struct verify_member {
    size_t offset; /* in an element, in bytes */
    struct make make;
};

/* Section of one array in memory. */
struct verify_array {
    struct npy_array section; /* its elements without gaps */
    cf_section place;         /* where they lie */
    size_t bytes;             /* from element 0 to the end of the section; 0 if it is empty */
    struct make make;         /* recipe for its elements if it is read */
    struct verify_member members[VERIFY_MEMBERS];
    uint32_t member_count;
};

/* Describes all arrays of a call with these values. -1 if such arrays are impossible: negative extents, more bytes than
 * `limit` in all, checks that no element can pass. Other parameters are left unchanged. */
int verify_arrays_measure(const cf_kernel *kernel, void *const args[], uint64_t seed, size_t limit,
                          struct verify_array *arrays);

/* Number of the members of parameter i's elements that checks bound. */
uint32_t verify_array_members(const cf_kernel *kernel, uint32_t i);

/* 1 if the elements of parameter i should differ from one another. */
int verify_array_is_distinct(const cf_kernel *kernel, uint32_t i);

/* Guard bytes before and after an array, enough for the writes of the largest block without a bounds check. */
#define VERIFY_GUARD ((size_t)64 << 10)

/* Allocates an array with `guard` bytes before and after it; the second function gives the bytes in all. Everything is
 * poison, except a section that is read. NULL without memory; the caller frees it. */
void *verify_array_make(const struct verify_array *array, int is_read, int poison, size_t guard);
size_t verify_array_room(const struct verify_array *array, size_t guard);

/* Copies the section's elements into `packed`. Returns the number of bytes outside the section that differ from
 * `before`, or from poison if `before` is NULL. */
size_t verify_array_take(const struct verify_array *array, const void *memory, const void *before, int poison,
                         size_t guard, void *packed);

/* Makes these arrays one array. Its home is the number of the largest; its elements are those of a read array, within
 * the ranges of all. -1 if sizes or strides differ or the arrays are empty. */
int verify_arrays_join(const cf_kernel *kernel, const struct inplace *which, struct verify_array *arrays,
                       uint32_t *home);

/* Number of elements with one run's poison in its result and the other run's in the other: neither run wrote them.
 * `first`: index of the first of them. */
size_t verify_array_unwritten(const struct verify_array *array, const void *one, int poison, const void *other,
                              int other_poison, size_t *first);

/* Appends "[17]" or "[3][5]" for the index of an element of the section. */
void verify_array_index(const struct verify_array *array, size_t number, struct message *message);

#endif
