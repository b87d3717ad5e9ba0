/* make.h - generates arrays of random, distinct, ascending or equal numbers. */
#ifndef MAKE_H
#define MAKE_H

#include <stdint.h>

#include "data/element.h"
#include "base/message.h"
#include "data/npy.h"

/* Recipe for one array. */
struct make {
    enum { MAKE_RANDOM, MAKE_RANDINT, MAKE_DISTINCT, MAKE_ASCENDING, MAKE_FILL } rule;
    int is_strict; /* MAKE_ASCENDING: all numbers differ, for which [low, high] has enough integers */
    cf_type type;  /* type of the generated numbers */
    uint64_t seed;
    union element low, high; /* bounds of integers, inclusive; MAKE_FILL: low is the value */
};

/* Largest generated integer if no range is declared; the least is 0. */
#define MAKE_ANY_HIGH 100

/* Returns 1 if a text names a rule, as in "random:f32:100", and not a file. */
int make_is_named(const char *text);

/* Reads a text that names a rule, for the parameter `name`, and describes the array. On entry, `make` holds the default
 * seed. */
int make_read(struct make *make, const char *text, const char *name, struct npy_array *array, struct message *message);

/* Generates the elements, `bytes` bytes in all. */
void make_elements(const struct make *make, void *elements, size_t bytes);

/* Generates the numbers in a struct: floats in [0, 1), and integers in [0, MAKE_ANY_HIGH]. Other bytes are left alone.
 * `members` is NULL if C sees the struct only as bytes. */
void make_members(const cf_member *members, uint64_t seed, void *element);

#endif
