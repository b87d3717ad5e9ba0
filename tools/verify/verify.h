/* verify.h - runs every kernel of a library on the CPU and on a GPU with arguments of many sizes, and compares. */
#ifndef VERIFY_H
#define VERIFY_H

#include <cuferry/registry.h>

#include "kernel/constant.h"
#include "kernel/instance.h"
#include "base/message.h"

/* Task of cf-run --verify. */
struct verify_plan {
    const cf_module *module;
    const struct constants *constants; /* set before the runs */
    struct instance_names names;
    char *const *argv; /* the command line: after a signal the program goes on with it */
};

/* Runs each kernel and variant on the thread's device and on the CPU, and prints a line for each. If the device is the
 * CPU, the second run has another order of blocks and threads. Fails on different results, unwritten elements of `out`
 * arrays, writes outside a section, a failing call, a kernel that a signal ends, and if nothing could run. */
int verify_all(const struct verify_plan *plan, struct message *message);

#endif
