/* compare.h - compares a result with what was expected, bit for bit or within a tolerance. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stddef.h>

#include "data/element.h"
#include "data/npy.h"

/* Bit for bit, in place of a tolerance. */
#define COMPARE_EXACT (-1.0)

/* What comparing two arrays has found. */
struct comparison {
    size_t count;                /* of elements that differ */
    size_t first;                /* the number of the first of them */
    double largest;              /* of |a - b| / max(1, |b|) over all numbers a of the result and b expected */
    char expected[ELEMENT_TEXT]; /* the first's value; empty where there is none */
};

/* Compares two arrays of one description. Numbers a and b, parts of complex ones and components of vectors each, agree
 * where |a - b| <= tolerance * max(1, |b|); a NaN agrees with any NaN. Structs always have to be equal. */
struct comparison compare_arrays(const void *result, const void *expected, const struct npy_array *array,
                                 double tolerance);

#endif
