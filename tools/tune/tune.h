/* tune.h - which variant of a kernel two runs over all of them found to be the fastest, by size. */
#ifndef TUNE_H
#define TUNE_H

#include <cuferry/registry.h>

#include "bench/bench_result.h"
#include "base/message.h"

/* The same work is timed so often, one run after the other: what is faster by chance is not so twice. */
#define TUNE_RUNS 2

/* A variant takes the place of the present one where it takes less by this part in each of the runs, and their times do
 * not overlap from first to third quartile, or it takes less than half of that quartile: a busy machine adds to times
 * what it will. */
#define TUNE_MARGIN 0.01

/* What was found of one kernel at one size. */
struct tune_finding {
    const cf_kernel *kernel;
    const cf_kernel *variant; /* that is kept; NULL: none could be timed */
    int64_t size;
    int size_class;
    double seconds, first_seconds; /* of it and of the first one; 0 where that could not be timed */
    int is_new;                    /* it takes the place of another one */
    char reason[BENCH_REASON];     /* where there is none */
};

struct tune_findings {
    struct tune_finding *list;
    size_t count;
};

/* Says which variant runs at present for a class. */
typedef int tune_present(void *data, const cf_kernel *kernel, int size_class, const cf_kernel **variant,
                         struct message *message);

/* Whether a variant has failed at some size: it is never taken. */
int tune_is_wrong(const struct bench_run *run, const cf_kernel *variant);

/* Judges the results of the kernel's variants; appends a finding for each size. Freed by the caller whatever it
 * returns. */
int tune_judge(const cf_kernel *kernel, const struct bench_run runs[TUNE_RUNS], tune_present *present, void *data,
               struct tune_findings *findings, struct message *message);

/* Whether the finding at `number` is the one that is kept for its class: of several sizes the last. */
int tune_is_last(const struct tune_findings *findings, size_t number);

#endif
