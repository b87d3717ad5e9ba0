/* verify_arrays.h - makes the arrays of a verified call: finds the positions of sections, generates elements, and
 * detects writes. */
#ifndef VERIFY_ARRAYS_H
#define VERIFY_ARRAYS_H

#include <cuferry/registry.h>

#include "data/compare.h"
#include "kernel/inplace.h"
#include "data/make.h"
#include "base/message.h"
#include "data/npy.h"

/* Largest number of members of an array's elements that checks can bound; other members get any numbers. */
#define VERIFY_MEMBERS 32

struct verify_member {
    size_t offset; /* offset in an element, in bytes */
    struct make make;
};

/* Section of one array in memory. */
struct verify_array {
    struct npy_array section; /* type and shape of the section's elements, without gaps */
    cf_section place;         /* positions of these elements in memory */
    size_t bytes;             /* number of bytes from element 0 to the end of the section; 0 if it is empty */
    struct make make;         /* recipe for the elements, if the array is read */
    struct verify_member members[VERIFY_MEMBERS];
    uint32_t member_count;
};

/* Describes all arrays of a call with these values. Returns -1 if such arrays are impossible, because an extent is
 * negative, they have more bytes than `limit` in all, or no element can pass a check. Leaves the entries of other
 * parameters unchanged. */
int verify_arrays_measure(const cf_kernel *kernel, void *const args[], uint64_t seed, size_t limit,
                          struct verify_array *arrays);

/* Returns the number of members of parameter i's elements that checks bound. */
uint32_t verify_array_members(const cf_kernel *kernel, uint32_t i);

/* Returns 1 if the elements of parameter i should differ from one another. */
int verify_array_is_distinct(const cf_kernel *kernel, uint32_t i);

/* Number of guard bytes before and after an array, enough for writes of the largest block if it does not check
 * bounds. */
#define VERIFY_GUARD ((size_t)64 << 10)

/* Allocates an array with `guard` bytes before and after it, filled with poison, except for a section that is read.
 * Returns NULL without memory; the caller frees it. The second function returns the number of bytes in all. */
void *verify_array_make(const struct verify_array *array, int is_read, int poison, size_t guard);
size_t verify_array_room(const struct verify_array *array, size_t guard);

/* Copies the section's elements into `packed`. Returns the number of bytes outside the section that differ from
 * `before`, or from poison if `before` is NULL. */
size_t verify_array_take(const struct verify_array *array, const void *memory, const void *before, int poison,
                         size_t guard, void *packed);

/* Lets arrays share memory. *home is the number of the largest; the elements are generated for an array that is read,
 * within the ranges of all. Returns -1 if sizes or strides differ, or if the arrays are empty. */
int verify_arrays_join(const cf_kernel *kernel, const struct inplace *which, struct verify_array *arrays,
                       uint32_t *home);

/* Returns the number of elements that neither run wrote: each run's result still holds that run's poison there. *first
 * is the index of the first of them. */
size_t verify_array_unwritten(const struct verify_array *array, const void *one, int poison, const void *other,
                              int other_poison, size_t *first);

/* Appends "[17]" or "[3][5]" for the index of an element of the section. */
void verify_array_index(const struct verify_array *array, size_t number, struct message *message);

#endif
