/* verify.h - runs every kernel of a library on the CPU and on a GPU with arguments of many sizes, and compares. */
#ifndef VERIFY_H
#define VERIFY_H

#include <cuferry/registry.h>

#include "kernel/constant.h"
#include "kernel/instance.h"
#include "base/message.h"

/* Kernels and settings of `cf-run --verify`. */
struct verify_plan {
    const cf_module *module;
    const struct constants *constants; /* set before the runs */
    struct instance_names names;
    unsigned random;   /* runs of each kernel with random scalars, without a comparison; 0: runs of many sizes */
    char *const *argv; /* the command line, with which the program is executed again after a signal */
};

/* Runs each kernel and variant on the thread's device and on the CPU, and prints a line for each. If the device is the
 * CPU, the second run has another order of blocks and threads. Fails if results differ, elements of `out` arrays stay
 * unwritten, a kernel writes outside a section, a call fails, a signal ends a kernel, or nothing could run. */
int verify_all(const struct verify_plan *plan, struct message *message);

#endif
