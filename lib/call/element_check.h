/* element_check.h - checks of arrays' elements. */
#ifndef CF__ELEMENT_CHECK_H
#define CF__ELEMENT_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "staging/rows.h"

struct cf__scope;
struct cf__section;

#define CF__NONE INT64_MAX /* no element: no array has as many */

/* A check of an array's elements, or of their order, in one call. */
struct cf__element_check {
    const cf_kernel *kernel;
    const cf_check *check;
    void *const *args;
    const struct cf__section *section;
    struct cf__rows rows;
    size_t element;    /* bytes of one */
    const char *first; /* the first one, where it is looked at */
    int is_cpu;        /* the CPU looks */
    /* The bounds as the elements' type has them, both included. Narrow types read the low bytes, which stand first on
     * every machine that CUDA runs on. */
    uint64_t lower, upper;
    int is_none;    /* no value is inside */
    uint64_t found; /* the first element outside, or out of order, counted row by row; CF__NONE; atomic */
    struct cf__element_check *next; /* of the same array */
};

/* Evaluates the bounds; the caller sets where the elements are, and looks at none where the section is empty. */
int cf__element_check_begin(struct cf__element_check *range, const cf_kernel *kernel, const cf_check *check,
                            void *const args[], const struct cf__section *section);

/* Looks at `count` elements, of which the first is element number `number` of the section; from any thread. They may be
 * a copy; the element in front of them is read where the array is. */
void cf__element_check_look(struct cf__element_check *range, const void *elements, uint64_t number, uint64_t count);

/* Looks at all of them in host memory. */
void cf__element_check_search(struct cf__element_check *range);

/* Looks at those of all ranges that the CPU does not look at; ends with the first one that has an element outside. */
int cf__element_check_search_device(struct cf__element_check ranges[], size_t count, const struct cf__scope *scope);

/* CF_ERANGE, or CF_EINVAL for the order, with the element that was found. */
int cf__element_check_report(const struct cf__element_check *range, const struct cf__scope *scope);

#endif
