/* verify_values.h - chooses the values of parameters that are no arrays: those of a size, within all checks. */
#ifndef VERIFY_VALUES_H
#define VERIFY_VALUES_H

#include <cuferry/registry.h>

#include "base/message.h"
#include "verify/verify_arrays.h"

/* A number that is chosen: a value, or a member of one. */
struct verify_number {
    uint32_t param;
    size_t offset; /* in the parameter's value */
    cf_type type;
    int is_size;           /* extents or the grid depend on it */
    int is_swept;          /* extents or the grid do, and not pitches alone */
    int is_set;            /* it stays what it is */
    const int64_t *wanted; /* what is tried for it, the best first, in place of the size and what is near; or NULL */
    uint32_t wanted_count;
};

/* What one call may take. Steps are threads times the largest size, where a loop may be as long as that and flops are
 * not told. */
struct verify_limits {
    size_t bytes;
    int64_t threads;
    double flops, steps;
};

/* Beyond, numbers stay 0. */
#define VERIFY_NUMBERS 32

struct verify_values {
    const cf_kernel *kernel;
    void **args; /* one a parameter: its value; NULL for arrays */
    struct verify_number numbers[VERIFY_NUMBERS];
    uint32_t count, size_count;
    struct verify_array *arrays; /* of the chosen values, one a parameter */
    struct verify_limits limits; /* of what is chosen: those of a call that takes a moment on the CPU */
};

/* Finds a kernel's numbers; -1 with the reason where its arguments cannot be made, such as pointers of which nothing is
 * declared. Freed by the caller whatever it returns. */
int verify_values_begin(struct verify_values *values, const cf_kernel *kernel, struct message *message);
void verify_values_free(struct verify_values *values);

/* Chooses values in which all sizes are `size`, or, with `only` from 0 on, in which that size alone is and others are
 * small; where checks forbid it others deviate, and as few as possible. -1 where no size can be that. */
#define VERIFY_ALL_SIZES (-1)
/* In place of a size: what the numbers' `wanted` say. */
#define VERIFY_WANTED (-1)
int verify_values_choose(struct verify_values *values, int64_t size, int only);

/* Whether a call with the values of the latest choice takes a moment on the CPU. */
int verify_values_are_small(const struct verify_values *values);

/* Threads of a block as launched with the values of the latest choice; 256 where it is not known before. */
int64_t verify_values_block(const struct verify_values *values);

/* Adds "n = 33, k = 5". */
void verify_values_add(const struct verify_values *values, struct message *message);

#endif
