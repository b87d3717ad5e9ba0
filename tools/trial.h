/* trial.h - runs a kernel over the arrays of the command line: once with all checks, then timed, then on the CPU. */
#ifndef TRIAL_H
#define TRIAL_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "argument.h"
#include "element.h"
#include "message.h"

/* Milliseconds. */
struct trial_times {
    double call;         /* of the first run, a cf_call(): loads the kernel, and checks all indices */
    float median, least; /* of the timed launches */
};

/* What comparing one array has found. */
struct trial_difference {
    size_t count;           /* of elements that differ */
    size_t first;           /* the number of the first of them */
    union element expected; /* its value on the CPU */
};

/* Runs the kernel on the thread's device: one cf_call(), then `repeats` timed launches, each from the given inputs.
 * What the last of them wrote is left in the arguments' results. */
int trial_run(const cf_kernel *kernel, struct argument *arguments, unsigned repeats, struct trial_times *times,
              struct message *message);

/* Runs the kernel anew on the CPU, which becomes the thread's device, and compares bit for bit with the results.
 * `differences` has one entry a parameter. */
int trial_verify(const cf_kernel *kernel, struct argument *arguments, struct trial_difference *differences,
                 struct message *message);

#endif
