/* verify_values.h - chooses values of scalar parameters: a size, within all checks. */
#ifndef VERIFY_VALUES_H
#define VERIFY_VALUES_H

#include <cuferry/registry.h>

#include "base/message.h"
#include "verify/verify_arrays.h"

/* A chosen number: a value, or a member of a value. */
struct verify_number {
    uint32_t param;
    size_t offset; /* in the parameter's value, in bytes */
    cf_type type;
    int is_size;           /* extents or the grid depend on it */
    int is_swept;          /* extents or the grid depend on it, and not only pitches */
    int is_set;            /* its value is fixed */
    const int64_t *wanted; /* candidates, best first, instead of the size and its neighbours; or NULL */
    uint32_t wanted_count;
};

/* Limits of one call. Steps are threads times the largest size, for kernels whose loops may have that length and whose
 * flops are unknown. */
struct verify_limits {
    size_t bytes;
    int64_t threads;
    double flops, steps;
};

/* Further numbers stay as they are made. */
#define VERIFY_NUMBERS 32

struct verify_values {
    const cf_kernel *kernel;
    void **args; /* one value per parameter; NULL for arrays */
    struct verify_number numbers[VERIFY_NUMBERS];
    uint32_t count, size_count;
    struct verify_array *arrays; /* arrays for the chosen values, one per parameter */
    struct verify_limits limits; /* limits of a choice: a call that the CPU runs in a moment */
};

/* Finds a kernel's numbers; -1 with the reason if arguments cannot be made, for instance for pointers without a
 * declaration. The caller frees the values in every case. */
int verify_values_begin(struct verify_values *values, const cf_kernel *kernel, struct message *message);
void verify_values_free(struct verify_values *values);

/* Chooses values in which all sizes are `size`, or, if `only` >= 0, that size alone, and others are small. Sizes
 * deviate as little as the checks require. -1 if no size can have the value. */
#define VERIFY_ALL_SIZES (-1)
/* Instead of a size: the values in `wanted`. */
#define VERIFY_WANTED (-1)
int verify_values_choose(struct verify_values *values, int64_t size, int only);

/* 1 if the CPU runs a call with the latest choice in a moment. */
int verify_values_are_small(const struct verify_values *values);

/* Threads of a block with the values of the latest choice; 256 if unknown before a launch. */
int64_t verify_values_block(const struct verify_values *values);

/* Appends "n = 33, k = 5". */
void verify_values_add(const struct verify_values *values, struct message *message);

#endif
