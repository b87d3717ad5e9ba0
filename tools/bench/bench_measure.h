/* bench_measure.h - times one kernel at one size. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/bench_result.h"
#include "bench/bench_values.h"
#include "kernel/constant.h"

/* Conditions under which kernels are timed. */
struct bench_conditions {
    const struct bench_machine *machine;
    const struct constants *constants; /* values of constants, set before the runs */
    double budget;                     /* seconds for the samples of one result */
    int verify;                        /* compare with the CPU even if that is slow */
    int of_first;                      /* compare variants with their first variant instead of the CPU */
};

/* Callback that reports progress; it is called before each step that may take long. */
typedef void bench_step(void *data, const char *what);

/* Times the kernel of `values` on the thread's device: chooses values for the size, compares once with the CPU, makes
 * the arrays, makes one call with all checks, and takes samples of raw launches. An error is stored as the reason in
 * the result. Sets *is_lost if the device cannot be used any more. */
void bench_measure(const struct bench_conditions *conditions, struct bench_values *values, int64_t size,
                   struct bench_result *result, int *is_lost, bench_step *step, void *data);

#endif
