/* bench_sweep.h - times many kernels at many sizes, in a separate process that may fail. */
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include <cuferry/registry.h>

#include "bench/bench_result.h"
#include "bench/bench_sizes.h"
#include "kernel/constant.h"
#include "base/message.h"

/* Kernels, sizes and conditions of a sweep. */
struct bench_plan {
    const cf_kernel *const *kernels; /* kernels and variants */
    size_t count;
    struct bench_sizes sizes;
    char *const *settings; /* "name=value", values of parameters */
    size_t setting_count;
    const struct constants *constants;
    const int *device;    /* NULL: the default device */
    int64_t cache;        /* bytes; below 0: ask the device */
    double budget;        /* seconds for the samples of one result */
    double limit;         /* most seconds for a step, such as a launch */
    int verify, of_first; /* as in bench_measure.h */
};

/* Callbacks that receive progress and results. */
struct bench_listener {
    void (*machine)(void *data, const struct bench_machine *machine);
    void (*step)(void *data, size_t kernel, int64_t size, const char *what);
    void (*result)(void *data, const struct bench_result *result);
    void *data;
};

/* Runs the plan and collects the results, which the caller frees in every case. A kernel's sizes end with the first
 * size that is impossible, and when the kernel faults, ends the process or exceeds the limit; then a new process
 * continues with the next kernel. The library must not have used a device before. */
int bench_sweep_run(const struct bench_plan *plan, const struct bench_listener *listener, struct bench_run *run,
                    struct message *message);

#endif
