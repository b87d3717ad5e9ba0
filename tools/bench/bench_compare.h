/* bench_compare.h - compares results with earlier ones. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include "bench/bench_result.h"
#include "base/message.h"

enum bench_change { BENCH_NEW, BENCH_SAME, BENCH_SLOWER, BENCH_FASTER, BENCH_BROKEN };

/* Relation of a result to the earlier result of the same kernel, variant, size and values. `ratio`: new time over old.
 * They are the same if their spreads, first to third quartile, overlap. BENCH_NEW: no earlier result; BENCH_BROKEN: no
 * time now. */
enum bench_change bench_compare(const struct bench_run *earlier, const struct bench_result *result, double *ratio);

/* Prints "  2.01 slower", or "      new". */
void bench_compare_print(const struct bench_run *earlier, const struct bench_result *result);

/* Prints how many results changed, and how the two runs differ. With `tolerance` >= 0, fails if a result is broken, or
 * slower by more than that part and beyond the spread. */
int bench_compare_conclude(const struct bench_run *earlier, const struct bench_run *now, double tolerance,
                           struct message *message);

#endif
