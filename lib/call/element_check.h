/* element_check.h - checks elements of arrays. */
#ifndef CF__ELEMENT_CHECK_H
#define CF__ELEMENT_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "model/expr.h"
#include "model/rows.h"

struct cf__scope;

#define CF__NO_ELEMENT INT64_MAX /* element number that means none */

/* A check of the elements of an array, or of their order, in one call. */
struct cf__element_check {
    struct cf__operands of;   /* the kernel and the arguments of the call */
    const cf_check *declared; /* the annotation's check */
    const cf_section *section;
    struct cf__rows rows;
    size_t element;    /* size of an element in bytes */
    cf_type type;      /* type of the integer that is checked, which is an element or its member */
    size_t offset;     /* offset of that member in an element, in bytes */
    const char *first; /* address of the first element, on the device unless is_cpu */
    int is_cpu;        /* 1 if the CPU does the check */
    /* Inclusive bounds in the elements' type. Kernels for narrow types read the low bytes, because all machines with
     * CUDA are little-endian. */
    uint64_t lower, upper;
    int is_none;                    /* 1 if the range is empty */
    uint64_t found;                 /* number of the first invalid element, row by row, or CF__NO_ELEMENT; atomic */
    struct cf__element_check *next; /* next check of the same array */
};

/* Returns 1 unless cf_set_check() has turned off the checks of elements. */
int cf__element_check_is_on(void);

/* Prepares a check and evaluates its bounds; returns a status. The caller sets `first` and `is_cpu`, and does not run
 * the check if the section is empty. */
int cf__element_check_begin(struct cf__element_check *check, const cf_kernel *kernel, const cf_check *declared,
                            void *const args[], const cf_section *section);

/* Checks `count` elements from number `number` of the section on. `elements` may be a copy, but the element before them
 * is read from the array. Thread-safe. */
void cf__element_check_look(struct cf__element_check *check, const void *elements, uint64_t number, uint64_t count);

/* Checks all elements in host memory, with the threads of the pool. */
void cf__element_check_search(struct cf__element_check *check);

/* Runs the device's checks by scan kernels and waits; returns a status. */
int cf__element_check_search_device(struct cf__element_check checks[], size_t count, const struct cf__scope *scope);

/* Reports the invalid element that was found; returns CF_ERANGE, or CF_EINVAL for a wrong order. */
int cf__element_check_report(const struct cf__element_check *check, const struct cf__scope *scope);

#endif
