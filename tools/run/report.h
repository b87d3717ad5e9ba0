/* report.h - prints how a kernel ran, and how its results compare with those of the CPU. */
#ifndef REPORT_H
#define REPORT_H

#include "base/message.h"
#include "run/trial.h"

/* Prints what ran on `device`, over what, and how fast. */
int report_run(const struct trial_plan *plan, const struct trial_times *times, int device, struct message *message);

/* Runs the kernel again on the CPU, and prints how much of the results agrees; fails where not all does. */
int report_verify(const struct trial_plan *plan, int device, struct message *message);

/* The same of calls with arrays that are one, as far as the kernel says that it works in place. `twin` makes of it what runs
 * then. */
int report_inplace(const struct trial_plan *plan, int device, trial_twin *twin, struct message *message);

#endif
