/* bench_values.h - chooses the arguments of a kernel for one size of a sweep. */
#ifndef BENCH_VALUES_H
#define BENCH_VALUES_H

#include "base/message.h"
#include "verify/verify_values.h"

/* Candidates per number. */
#define BENCH_TRIES 96

struct bench_values {
    struct verify_values chosen;
    int64_t lists[VERIFY_NUMBERS][BENCH_TRIES];
};

/* Finds a kernel's numbers and fixes those in `settings`, each "name=value"; settings for other kernels are skipped. -1
 * with the reason if arguments cannot be made, or with *is_wrong if a setting is invalid. The caller frees the values
 * in every case. */
int bench_values_begin(struct bench_values *values, const cf_kernel *kernel, char *const *settings, size_t count,
                       int *is_wrong, struct message *message);
void bench_values_free(struct bench_values *values);

/* 1 if a number is left that a size can change. */
int bench_values_vary(const struct bench_values *values);

/* Chooses values for which the largest array, or a grid that counts threads, has `size` elements: all numbers of
 * extents equal `size` if arrays allow it, otherwise they double in turn from 1. Near or half values serve checks;
 * pitches are minimal. -1 with the reason, also below half the size. */
int bench_values_choose(struct bench_values *values, int64_t size, struct message *message);

/* Elements of the largest array, or threads. Arrays that no size changes do not count, unless all are such. */
int64_t bench_values_elements(const struct bench_values *values);

#endif
