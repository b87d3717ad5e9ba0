/* report.h - prints how a kernel ran, and how its results compare with the CPU's. */
#ifndef REPORT_H
#define REPORT_H

#include "base/message.h"
#include "run/trial.h"

/* Prints the kernel, its arguments, `device` and the times. */
int report_run(const struct trial_plan *plan, const struct trial_times *times, int device, struct message *message);

/* Runs the kernel again on the CPU, and prints how much of the results agrees; fails if anything differs. */
int report_verify(const struct trial_plan *plan, int device, struct message *message);

/* The same for calls with shared arrays, as far as the kernel works in place. `twin` makes the kernel that runs. */
int report_inplace(const struct trial_plan *plan, int device, trial_twin *twin, struct message *message);

#endif
