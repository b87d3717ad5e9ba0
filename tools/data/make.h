/* make.h - arrays that are made on the spot: random numbers, in an order or none, and equal ones. */
#ifndef MAKE_H
#define MAKE_H

#include <stdint.h>

#include "data/element.h"
#include "base/message.h"
#include "data/npy.h"

/* How one array is made. */
struct make {
    enum { MAKE_RANDOM, MAKE_RANDINT, MAKE_DISTINCT, MAKE_ASCENDING, MAKE_FILL } rule;
    int is_strict; /* MAKE_ASCENDING: no two are equal; there are as many integers in [low, high] */
    cf_type type;  /* of the numbers that are made */
    uint64_t seed;
    union element low, high; /* of integers: inclusive; MAKE_FILL: low is the value */
};

/* Whether a text names a rule, as in "random:f32:100", and no file. */
int make_is_named(const char *text);

/* Reads such a text for the parameter `name`, and describes the array. `make` comes with the seed that holds where
 * none is given. */
int make_read(struct make *make, const char *text, const char *name, struct npy_array *array, struct message *message);

/* Makes the elements, `bytes` bytes. */
void make_elements(const struct make *make, void *elements, size_t bytes);

#endif
