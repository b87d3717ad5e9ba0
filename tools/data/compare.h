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
    const cf_member *member;     /* member of the first differing element that differs; NULL without members */
    size_t number;               /* of the value in this member */
    int is_bytes;                /* the first differing value was compared by bytes */
    char result[ELEMENT_TEXT];   /* the first differing value; empty without one */
    char expected[ELEMENT_TEXT]; /* and the expected value */
};

/* Compares two arrays of one description. Numbers a and b, also parts of complex numbers and components of vectors,
 * agree if |a - b| <= tolerance * max(1, |b|). Two NaNs agree. Structs agree if their members do, whose integers must be
 * equal; structs of unknown members and pointers must be equal in all bytes. */
struct comparison compare_arrays(const void *result, const void *expected, const struct npy_array *array,
                                 double tolerance);

/* Appends ".cells[3].x" for the member that differs; nothing without members. */
void compare_add_member(const struct comparison *comparison, struct message *message);

/* Appends "; 3 of 33 elements differ, by up to 1, tolerance 1e-05". */
void compare_add_count(const struct comparison *comparison, size_t count, double tolerance, struct message *message);

#endif
