/* tune.h - finds the fastest variant of a kernel for each size, from two runs of all variants. */
#ifndef TUNE_H
#define TUNE_H

#include <cuferry/registry.h>

#include "bench/bench_result.h"
#include "base/message.h"

/* Number of runs of the same work; a result by chance is not repeated in the second. */
#define TUNE_RUNS 2

/* A variant replaces the present one if in each run its time is less by this fraction, and either their intervals from
 * first to third quartile do not overlap, or it takes less than half of the present one's first quartile. A busy
 * machine can only increase times. */
#define TUNE_MARGIN 0.01

/* Finding on one kernel at one size. */
struct tune_finding {
    const cf_kernel *kernel;
    const cf_kernel *variant; /* the variant that is stored; NULL: none has a time */
    int64_t size;
    int size_class;
    double seconds, first_seconds; /* times of that variant and of the first variant; 0: no time */
    int is_new;                    /* the variant replaces another one */
    char reason[BENCH_REASON];     /* reason why there is no variant */
};

struct tune_findings {
    struct tune_finding *list;
    size_t count;
};

/* Callback that finds the variant that calls of a size class use at present. */
typedef int tune_present(void *data, const cf_kernel *kernel, int size_class, const cf_kernel **variant,
                         struct message *message);

/* Returns 1 if a variant has failed at some size, so that it must not be chosen. */
int tune_is_wrong(const struct bench_run *run, const cf_kernel *variant);

/* Judges the results of the kernel's variants and appends a finding per size. The caller frees the findings in every
 * case. */
int tune_judge(const cf_kernel *kernel, const struct bench_run runs[TUNE_RUNS], tune_present *present, void *data,
               struct tune_findings *findings, struct message *message);

/* Returns 1 if finding `number` is stored for its size class. Of several sizes in a class, the last one is. */
int tune_is_last(const struct tune_findings *findings, size_t number);

#endif
