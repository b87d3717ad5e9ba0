/* compare.h - compares a result with the expected values, bit for bit or within a tolerance. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stddef.h>

#include "data/element.h"
#include "data/npy.h"

/* Tolerance that demands equal bits. */
#define COMPARE_EXACT (-1.0)

/* Result of comparing two arrays. */
struct comparison {
    size_t count;                /* number of differing elements */
    size_t first;                /* index of the first differing element */
    double largest;              /* largest |a - b| / max(1, |b|) for numbers a of the result and b expected */
    const cf_member *member;     /* member of the first differing element that differs; NULL without members */
    size_t number;               /* index of the value within this member */
    int is_bytes;                /* the first differing value was compared by bytes */
    char result[ELEMENT_TEXT];   /* the first differing value as text; empty if there is none */
    char expected[ELEMENT_TEXT]; /* the value expected there */
};

/* Compares two arrays of the same type and shape. Numbers a and b (also parts of complex numbers and components of
 * vectors) agree if |a - b| <= tolerance * max(1, |b|). Two NaNs agree. Structs agree if all their members do; integers
 * in members must be equal. Pointers, and structs of unknown members, must be equal in all bytes. */
struct comparison compare_arrays(const void *result, const void *expected, const struct npy_array *array,
                                 double tolerance);

/* Appends the path of the member that differs, such as ".cells[3].x"; nothing if members are not known. */
void compare_add_member(const struct comparison *comparison, struct message *message);

/* Appends a text such as "; 3 of 33 elements differ, by up to 1, tolerance 1e-05". */
void compare_add_count(const struct comparison *comparison, size_t count, double tolerance, struct message *message);

#endif
