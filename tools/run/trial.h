/* trial.h - runs a kernel on the command line's arrays: once with all checks, then timed, then on the CPU. */
#ifndef TRIAL_H
#define TRIAL_H

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "data/compare.h"
#include "kernel/constant.h"
#include "kernel/inplace.h"
#include "base/message.h"

/* Kernel, arguments and number of timed launches of a run. */
struct trial_plan {
    const cf_kernel *kernel;
    struct argument *arguments;
    const struct constants *constants; /* set before the run */
    unsigned repeats;
};

/* Times in milliseconds. */
struct trial_times {
    double call;         /* first run, by cf_call(), which loads the kernel and checks all indices */
    float median, least; /* times of the timed launches */
};

/* Runs the kernel on the thread's device: one cf_call(), then timed launches, each from the given inputs. The last
 * launch's results are left in the arguments. Before a launch, outputs hold a pattern, which stays in elements that the
 * kernel does not write. */
int trial_run(const struct trial_plan *plan, struct trial_times *times, struct message *message);

/* Runs the kernel again on the CPU, which becomes the thread's device. Compares the results with those of the first
 * run, and inputs with their contents before it. If `device` is the CPU, too, threads run in another order now.
 * `comparisons` has one entry per parameter. */
int trial_verify(const struct trial_plan *plan, int device, double tolerance, struct comparison *comparisons,
                 struct message *message);

/* Returns the kernel to run in place of the plan's for one call, such as a watched twin; NULL without memory. */
typedef const cf_kernel *trial_twin(const struct trial_plan *plan, struct message *message);

/* Makes a call with shared arrays on `device` (on the CPU in another order), and compares its result with that of a
 * call on the CPU with separate arrays. The caller frees *result. Returns 1 if the library refuses one of the calls,
 * for instance because an extent is 0. */
int trial_inplace(const struct trial_plan *plan, const struct inplace *which, trial_twin *twin, int device,
                  double tolerance, void **result, struct comparison *comparison, struct message *message);

#endif
