/* bench_statistics.c - computes statistics of samples: minimum, quartiles, median, maximum, error of the median. */
#include "bench/bench_statistics.h"

#include <math.h>
#include <stdlib.h>

static int compare_samples(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Returns the value below which the fraction `part` of all samples lies. */
static double find_quantile(const double *sorted, size_t count, double part)
{
    double at = part * (double)(count - 1);
    size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct bench_statistics bench_statistics_of(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, compare_samples);
    return (struct bench_statistics){samples[0],
                                     find_quantile(samples, count, 0.25),
                                     find_quantile(samples, count, 0.5),
                                     find_quantile(samples, count, 0.75),
                                     samples[count - 1],
                                     count};
}

double bench_statistics_spread(const struct bench_statistics *statistics)
{
    return statistics->median > 0 ? (statistics->upper - statistics->lower) / statistics->median : 0;
}

int bench_statistics_is_busy(const struct bench_statistics *statistics)
{
    return bench_statistics_spread(statistics) > BENCH_BUSY;
}

/* The quartiles of a normal distribution are 1.349 deviations apart; the median of n samples has an error of 1.2533
 * deviations / sqrt(n). */
double bench_statistics_error(const struct bench_statistics *statistics)
{
    return bench_statistics_spread(statistics) * (1.2533 / 1.349) / sqrt((double)statistics->count);
}
