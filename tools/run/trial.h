/* trial.h - runs a kernel over the arrays of the command line: once with all checks, then timed, then on the CPU. */
#ifndef TRIAL_H
#define TRIAL_H

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "data/compare.h"
#include "kernel/constant.h"
#include "kernel/inplace.h"
#include "base/message.h"

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

/* What of a kernel runs, such as one that is watched, which has to be made for each call; NULL where there is none. */
typedef const cf_kernel *trial_twin(const struct trial_plan *plan, struct message *message);

/* One more call, by a twin on `device`, with arrays that are one, whose elements are the input's; on the CPU in another
 * order. What it writes, `result`, which is the caller's to free, is compared with a call on the CPU whose arrays are
 * apart and hold the same. 1 where the library refuses either, as with extents that are 0. */
int trial_inplace(const struct trial_plan *plan, const struct inplace *which, trial_twin *twin, int device,
                  double tolerance, void **result, struct comparison *comparison, struct message *message);

#endif
