/* bench_measure.h - times one kernel at one size. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/bench_result.h"
#include "bench/bench_values.h"
#include "kernel/constant.h"

/* How a kernel is timed. */
struct bench_conditions {
    const struct bench_machine *machine;
    const struct constants *constants; /* that are set first */
    double budget;                     /* seconds, for the samples of one result */
    int verify;                        /* compare with the CPU, whatever it takes; else where it takes a moment */
    int of_first;                      /* variants are compared with their first one, and not with the CPU */
};

/* What goes on: called before each step that may take long. */
typedef void bench_step(void *data, const char *what);

/* Times the kernel of `values` on the thread's device: chooses values of that size, compares once with the CPU, makes
 * the arrays, calls it once with all checks, then takes samples of raw launches. What goes wrong is the result's reason.
 * *is_lost is set where the device is of no use any more. */
void bench_measure(const struct bench_conditions *conditions, struct bench_values *values, int64_t size,
                   struct bench_result *result, int *is_lost, bench_step *step, void *data);

#endif
