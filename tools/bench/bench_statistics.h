/* bench_statistics.h - computes statistics of samples: minimum, quartiles, median, maximum, error of the median. */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

#include <stddef.h>

struct bench_statistics {
    double least, lower, median, upper, most; /* lower and upper: first and third quartile */
    size_t count;
};

/* Sorts the samples, of which there must be at least one. Quartiles between two samples are interpolated linearly, as
 * NumPy and R do by default. */
struct bench_statistics bench_statistics_of(double *samples, size_t count);

/* Returns (upper - lower) / median; 0 if the median is 0. */
double bench_statistics_spread(const struct bench_statistics *statistics);

/* Spread above which other programs disturbed the samples, so that the median is meaningless. */
#define BENCH_BUSY 0.2

/* Returns 1 if the spread is above BENCH_BUSY, otherwise 0. */
int bench_statistics_is_busy(const struct bench_statistics *statistics);

/* Returns the standard error of the median divided by the median, estimated from the quartiles as if samples were
 * normally distributed; 0 if the median is 0. */
double bench_statistics_error(const struct bench_statistics *statistics);

#endif
