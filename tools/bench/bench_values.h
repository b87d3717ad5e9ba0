/* bench_values.h - chooses the arguments of a kernel for one size of a sweep. */
#ifndef BENCH_VALUES_H
#define BENCH_VALUES_H

#include "base/message.h"
#include "verify/verify_values.h"

/* Tries for one number. */
#define BENCH_TRIES 96

struct bench_values {
    struct verify_values chosen;
    int64_t lists[VERIFY_NUMBERS][BENCH_TRIES];
};

/* Finds a kernel's numbers, and sets those that `settings` name, each "name=value", which then stay so; a setting for
 * another kernel is passed over. -1 with the reason where the kernel's arguments cannot be made, or *is_wrong is set and a
 * setting is none. Freed by the caller whatever it returns. */
int bench_values_begin(struct bench_values *values, const cf_kernel *kernel, char *const *settings, size_t count,
                       int *is_wrong, struct message *message);
void bench_values_free(struct bench_values *values);

/* Whether anything is left that a size could change. */
int bench_values_vary(const struct bench_values *values);

/* Chooses the values in which the largest array, or the grid where it counts threads, has `size` elements. All numbers
 * that extents depend on are `size` where no array is larger then; else they begin at 1 and are doubled by turns, the last
 * first, as long as none is, and what remains goes to the first. Where checks forbid that, a number that is near is taken,
 * or halves, which are raised again as far as checks allow, and so are the others. Numbers of pitches alone are as small
 * as checks allow. -1 with the reason, also where less than half as many elements can be had, or, of an array whose
 * elements should differ and with it of the grid, less than half of what would go with the size. */
int bench_values_choose(struct bench_values *values, int64_t size, struct message *message);

/* The elements of the largest array, or threads; arrays that no size changes do not count, unless none does. */
int64_t bench_values_elements(const struct bench_values *values);

#endif
