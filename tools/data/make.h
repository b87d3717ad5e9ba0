/* make.h - generated arrays: random, distinct, ascending or equal numbers. */
#ifndef MAKE_H
#define MAKE_H

#include <stdint.h>

#include "data/element.h"
#include "base/message.h"
#include "data/npy.h"

/* Recipe for one array. */
struct make {
    enum { MAKE_RANDOM, MAKE_RANDINT, MAKE_DISTINCT, MAKE_ASCENDING, MAKE_FILL } rule;
    int is_strict; /* MAKE_ASCENDING: all numbers differ; [low, high] has enough integers */
    cf_type type;  /* type of the generated numbers */
    uint64_t seed;
    union element low, high; /* bounds of integers, inclusive; MAKE_FILL: low is the value */
};

/* Integers without a declared range are in [0, MAKE_ANY_HIGH]. */
#define MAKE_ANY_HIGH 100

/* 1 if a text names a rule, as in "random:f32:100", and not a file. */
int make_is_named(const char *text);

/* Reads such a text for the parameter `name`, and describes the array. `make` holds the default seed on entry. */
int make_read(struct make *make, const char *text, const char *name, struct npy_array *array, struct message *message);

/* Makes the elements, `bytes` bytes in all. */
void make_elements(const struct make *make, void *elements, size_t bytes);

/* Makes the numbers in a struct: floats in [0, 1), and integers without a declared range. Other bytes are left alone.
 * `members`: NULL for a struct of which C sees bytes. */
void make_members(const cf_member *members, uint64_t seed, void *element);

#endif
