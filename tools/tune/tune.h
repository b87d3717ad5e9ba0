/* tune.h - finds the fastest variant of a kernel by size, from two runs over all variants. */
#ifndef TUNE_H
#define TUNE_H

#include <cuferry/registry.h>

#include "bench/bench_result.h"
#include "base/message.h"

/* Number of runs over the same work: chance results do not repeat. */
#define TUNE_RUNS 2

/* A variant replaces the present one if it takes less by this part in each run, and their times from first to third
 * quartile do not overlap, or it takes less than half of that quartile. A busy machine only adds to times. */
#define TUNE_MARGIN 0.01

/* Finding on one kernel at one size. */
struct tune_finding {
    const cf_kernel *kernel;
    const cf_kernel *variant; /* the kept variant; NULL: none has a time */
    int64_t size;
    int size_class;
    double seconds, first_seconds; /* times of that variant and of the first variant; 0: none */
    int is_new;                    /* it replaces another variant */
    char reason[BENCH_REASON];     /* reason for having no variant */
};

struct tune_findings {
    struct tune_finding *list;
    size_t count;
};

/* Returns the variant that a class uses at present. */
typedef int tune_present(void *data, const cf_kernel *kernel, int size_class, const cf_kernel **variant,
                         struct message *message);

/* 1 if a variant has failed at some size: it is never chosen. */
int tune_is_wrong(const struct bench_run *run, const cf_kernel *variant);

/* Judges the results of the kernel's variants and appends a finding per size. The caller frees the findings in every
 * case. */
int tune_judge(const cf_kernel *kernel, const struct bench_run runs[TUNE_RUNS], tune_present *present, void *data,
               struct tune_findings *findings, struct message *message);

/* 1 if finding `number` is kept for its class: of several sizes, the last. */
int tune_is_last(const struct tune_findings *findings, size_t number);

#endif
