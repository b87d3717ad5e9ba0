/* report.h - prints how a kernel ran, and how its results compare with the CPU's. */
#ifndef REPORT_H
#define REPORT_H

#include "base/message.h"
#include "run/trial.h"

/* Prints the kernel, its arguments, the device and the times. */
int report_run(const struct trial_plan *plan, const struct trial_times *times, int device, struct message *message);

/* Runs the kernel again on the CPU, and prints how many elements agree. Fails if anything differs. */
int report_verify(const struct trial_plan *plan, int device, struct message *message);

/* Makes the calls with shared arrays that the kernel's inplace(...) permits, compares and prints their results, and
 * fails if anything differs. `twin` makes the kernel that runs. */
int report_inplace(const struct trial_plan *plan, int device, trial_twin *twin, struct message *message);

#endif
