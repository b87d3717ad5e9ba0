/* bench_values.h - chooses the arguments of a kernel for one size of a sweep. */
#ifndef BENCH_VALUES_H
#define BENCH_VALUES_H

#include "base/message.h"
#include "verify/verify_values.h"

/* Largest number of candidates for each number. */
#define BENCH_TRIES 96

struct bench_values {
    struct verify_values chosen;
    int64_t lists[VERIFY_NUMBERS][BENCH_TRIES];
};

/* Finds a kernel's numbers and fixes those in `settings`, each "name=value"; settings for other kernels are skipped.
 * Returns -1 with the reason if arguments cannot be made; sets *is_wrong, too, if a setting is invalid. The caller
 * frees the values in every case. */
int bench_values_begin(struct bench_values *values, const cf_kernel *kernel, char *const *settings, size_t count,
                       int *is_wrong, struct message *message);
void bench_values_free(struct bench_values *values);

/* Returns 1 if the size can change one of the numbers. */
int bench_values_vary(const struct bench_values *values);

/* Chooses values for which the largest array, or a grid that counts threads, has `size` elements. All numbers that
 * extents use are `size` if the arrays allow it; otherwise they double in turn from 1. If checks refuse these values,
 * nearby or half ones are tried. Returns -1 with the reason, for instance if less than half the size is possible. */
int bench_values_choose(struct bench_values *values, int64_t size, struct message *message);

/* Returns the elements of the largest array, or the threads of the grid. Arrays that do not depend on the size count
 * only if no array depends on it. */
int64_t bench_values_elements(const struct bench_values *values);

#endif
