/* bench_compare.h - compares results with earlier ones. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include "bench/bench_result.h"
#include "base/message.h"

enum bench_change { BENCH_NEW, BENCH_SAME, BENCH_SLOWER, BENCH_FASTER, BENCH_BROKEN };

/* What a result is beside the earlier one of the same kernel, variant, size and values. `ratio`: its time over the
 * earlier. The two are the same where their spreads, from the first to the third quartile, overlap. BENCH_NEW where there
 * is no earlier one, BENCH_BROKEN where there is one and no time now. */
enum bench_change bench_compare(const struct bench_run *earlier, const struct bench_result *result, double *ratio);

/* Prints "  2.01 slower", or "      new". */
void bench_compare_print(const struct bench_run *earlier, const struct bench_result *result);

/* Prints how many results changed, and where the two runs were not alike; fails with `tolerance` from 0 on where one is
 * slower by more than that part and beyond the spread, or broken. */
int bench_compare_conclude(const struct bench_run *earlier, const struct bench_run *now, double tolerance,
                           struct message *message);

#endif
