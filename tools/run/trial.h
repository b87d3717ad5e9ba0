/* trial.h - runs a kernel over the command line's arrays: once with all checks, then timed, then on the CPU. */
#ifndef TRIAL_H
#define TRIAL_H

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "data/compare.h"
#include "kernel/constant.h"
#include "kernel/inplace.h"
#include "base/message.h"

/* Description of a run. */
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
 * launch's results are left in the arguments. Outputs hold a pattern before, which stays in unwritten elements. */
int trial_run(const struct trial_plan *plan, struct trial_times *times, struct message *message);

/* Runs the kernel again on the CPU, which becomes the thread's device, and compares the results, and inputs with their
 * content before. If the run on `device` was on the CPU too, threads have another order now. `comparisons` has one entry
 * per parameter. */
int trial_verify(const struct trial_plan *plan, int device, double tolerance, struct comparison *comparisons,
                 struct message *message);

/* Makes the kernel that runs in place of another, such as a watched twin, for each call; NULL without memory. */
typedef const cf_kernel *trial_twin(const struct trial_plan *plan, struct message *message);

/* Makes one more call with shared arrays on `device`, on the CPU in another order, and compares its `result`, which the
 * caller frees, with a call on the CPU with separate arrays. 1 if the library refuses either call, for instance for
 * extents of 0. */
int trial_inplace(const struct trial_plan *plan, const struct inplace *which, trial_twin *twin, int device,
                  double tolerance, void **result, struct comparison *comparison, struct message *message);

#endif
