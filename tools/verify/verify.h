/* verify.h - runs every kernel of a library on the CPU and on a GPU, over arguments of many sizes, and compares. */
#ifndef VERIFY_H
#define VERIFY_H

#include <cuferry/registry.h>

#include "kernel/constant.h"
#include "kernel/instance.h"
#include "base/message.h"

/* What is verified. */
struct verify_plan {
    const cf_module *module;
    const struct constants *constants; /* that are set first */
    struct instance_names names;
};

/* Runs each kernel and variant on the thread's device and on the CPU, and prints a line for each. Where the thread's
 * device is the CPU, it runs there twice, the second time with its blocks and threads in another order. Fails where
 * results differ, elements of `out` arrays are not written, anything beside a section is, a call fails, or nothing
 * could be run. */
int verify_all(const struct verify_plan *plan, struct message *message);

#endif
