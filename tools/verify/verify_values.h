/* verify_values.h - chooses values of scalar parameters for a size, so that all checks pass. */
#ifndef VERIFY_VALUES_H
#define VERIFY_VALUES_H

#include <cuferry/registry.h>

#include "base/message.h"
#include "verify/verify_arrays.h"

/* A number to choose: a parameter's value, or a member of it. */
struct verify_number {
    uint32_t param;
    size_t offset; /* offset in the parameter's value, in bytes */
    cf_type type;
    int is_size;           /* extents or the grid depend on it */
    int is_swept;          /* extents or the grid depend on it; 0 if only pitches do */
    int is_set;            /* its value is fixed */
    const int64_t *wanted; /* candidates, best first; NULL: the size and its neighbours */
    uint32_t wanted_count;
};

/* Limits of one call. `steps` limits the number of threads times the largest size, for kernels whose loops may have
 * that length and whose flops are not declared. */
struct verify_limits {
    size_t bytes;
    int64_t threads;
    double flops, steps;
};

/* Largest number of numbers that are chosen; further ones keep their first value. */
#define VERIFY_NUMBERS 32

struct verify_values {
    const cf_kernel *kernel;
    void **args; /* one value per parameter; NULL for arrays */
    struct verify_number numbers[VERIFY_NUMBERS];
    uint32_t count, size_count;
    struct verify_array *arrays; /* arrays for the chosen values, one per parameter */
    struct verify_limits limits; /* limits of a choice; by default those of a call that the CPU runs quickly */
};

/* Finds a kernel's numbers. Returns -1 with the reason if arguments cannot be made, for instance for pointers that no
 * clause declares. The caller frees the values in every case. */
int verify_values_begin(struct verify_values *values, const cf_kernel *kernel, struct message *message);
void verify_values_free(struct verify_values *values);

/* Chooses values in which all sizes are `size`; if `only` >= 0, only that size is, and the others are small. Sizes
 * deviate as little as the checks require. Returns -1 if no size can have the value. */
#define VERIFY_ALL_SIZES (-1)
/* Value of `size` for which the candidates in `wanted` are chosen. */
#define VERIFY_WANTED (-1)
int verify_values_choose(struct verify_values *values, int64_t size, int only);

/* Makes small random numbers, half of them odd, the candidates of VERIFY_WANTED. A seed stands for the same numbers
 * always. */
void verify_values_randomise(struct verify_values *values, uint64_t seed);

/* Returns 1 if the CPU runs a call with the latest choice quickly. */
int verify_values_are_small(const struct verify_values *values);

/* Returns the threads of a block with the latest choice; 256 if they are not known before a launch. */
int64_t verify_values_block(const struct verify_values *values);

/* Appends the values, such as "n = 33, k = 5". */
void verify_values_add(const struct verify_values *values, struct message *message);

#endif
