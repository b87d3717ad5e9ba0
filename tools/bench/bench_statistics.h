/* bench_statistics.h - statistics of samples: least, quartiles, median, most, error of the median. */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

#include <stddef.h>

struct bench_statistics {
    double least, lower, median, upper, most; /* lower and upper: first and third quartile */
    size_t count;
};

/* Sorts the samples, at least one. Quartiles between two samples are interpolated linearly, the default of NumPy and
 * R. */
struct bench_statistics bench_statistics_of(double *samples, size_t count);

/* (upper - lower) / median; 0 if the median is 0. */
double bench_statistics_spread(const struct bench_statistics *statistics);

/* Spread from which on other programs ran, so that the median is meaningless. */
#define BENCH_BUSY 0.2

/* 1 if the spread is above BENCH_BUSY, otherwise 0. */
int bench_statistics_is_busy(const struct bench_statistics *statistics);

/* Standard error of the median divided by the median, estimated from the quartiles for normally distributed samples; 0
 * if the median is 0. */
double bench_statistics_error(const struct bench_statistics *statistics);

#endif
