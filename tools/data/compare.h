/* compare.h - compares a result with the expected values, bit for bit or within a tolerance. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stddef.h>

#include "data/element.h"
#include "data/npy.h"

/* Tolerance that means bit for bit. */
#define COMPARE_EXACT (-1.0)

/* Result of comparing two arrays. */
struct comparison {
    size_t count;                /* number of differing elements */
    size_t first;                /* index of the first differing element */
    double largest;              /* largest |a - b| / max(1, |b|) over numbers a of the result and b expected */
    char expected[ELEMENT_TEXT]; /* value of the first differing element; empty without one */
};

/* Compares two arrays of one description. Numbers a and b, also parts of complex numbers and components of vectors,
 * agree if |a - b| <= tolerance * max(1, |b|). Two NaNs agree. Structs must be equal. */
struct comparison compare_arrays(const void *result, const void *expected, const struct npy_array *array,
                                 double tolerance);

#endif
