/* bench_sweep.h - times many kernels at many sizes, in a process of its own that may fail. */
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include <cuferry/registry.h>

#include "bench/bench_result.h"
#include "bench/bench_sizes.h"
#include "kernel/constant.h"
#include "base/message.h"

/* What is timed, and how. */
struct bench_plan {
    const cf_kernel *const *kernels; /* and variants */
    size_t count;
    struct bench_sizes sizes;
    char *const *settings; /* name=value, of parameters */
    size_t setting_count;
    const struct constants *constants;
    const int *device;    /* NULL: the default one */
    int64_t cache;        /* bytes; below 0: the device's own */
    double budget;        /* seconds for the samples of one result */
    double limit;         /* seconds that a step may take, such as a launch */
    int verify, of_first; /* as bench_measure.h has it */
};

/* Who is told what goes on. */
struct bench_listener {
    void (*machine)(void *data, const struct bench_machine *machine);
    void (*step)(void *data, size_t kernel, int64_t size, const char *what);
    void (*result)(void *data, const struct bench_result *result);
    void *data;
};

/* Runs the plan and collects the results, which the caller frees whatever it returns. A kernel's sizes end with the first
 * that cannot be had; so they do where it faults, ends the process or takes longer than the limit, and the next kernel has
 * a new process. The library must not have used a device before. */
int bench_sweep_run(const struct bench_plan *plan, const struct bench_listener *listener, struct bench_run *run,
                    struct message *message);

#endif
