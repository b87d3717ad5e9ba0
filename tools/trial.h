/* trial.h - runs a kernel over the arrays of the command line: once with all checks, then timed, then on the CPU. */
#ifndef TRIAL_H
#define TRIAL_H

#include <cuferry/registry.h>

#include "argument.h"
#include "compare.h"
#include "constant.h"
#include "message.h"

/* What is run. */
struct trial_plan {
    const cf_kernel *kernel;
    struct argument *arguments;
    const struct constants *constants; /* that are set first */
    unsigned repeats;
};

/* Milliseconds. */
struct trial_times {
    double call;         /* of the first run, a cf_call(): loads the kernel, and checks all indices */
    float median, least; /* of the timed launches */
};

/* Runs the kernel on the thread's device: one cf_call(), then the timed launches, each from the given inputs. What the
 * last of them wrote is left in the arguments' results. Outputs hold a pattern before, which stays where the kernel
 * does not write. */
int trial_run(const struct trial_plan *plan, struct trial_times *times, struct message *message);

/* Runs the kernel anew on the CPU, which becomes the thread's device, and compares with the results. `comparisons` has
 * one entry a parameter. */
int trial_verify(const struct trial_plan *plan, double tolerance, struct comparison *comparisons,
                 struct message *message);

#endif
