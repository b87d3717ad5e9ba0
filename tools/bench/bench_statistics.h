/* bench_statistics.h - what a set of samples says: least, quartiles, median, most, and how sure the median is. */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

#include <stddef.h>

struct bench_statistics {
    double least, lower, median, upper, most; /* lower and upper are the first and the third quartile */
    size_t count;
};

/* Sorts the samples, of which there is at least one. Quartiles between two samples are interpolated linearly, as NumPy
 * and R do by default. */
struct bench_statistics bench_statistics_of(double *samples, size_t count);

/* (upper - lower) / median; 0 where the median is 0. */
double bench_statistics_spread(const struct bench_statistics *statistics);

/* A spread from which on something else was running, and the median says nothing of what was timed. */
#define BENCH_BUSY 0.2

/* 1 where the spread is above BENCH_BUSY, else 0. */
int bench_statistics_is_busy(const struct bench_statistics *statistics);

/* The standard error of the median over the median, as far as the quartiles tell of samples that are distributed normally;
 * 0 where the median is 0. */
double bench_statistics_error(const struct bench_statistics *statistics);

#endif
