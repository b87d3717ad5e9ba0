/* verify.h - runs every kernel of a library on the CPU and on a GPU, over arguments of many sizes, and compares. */
#ifndef VERIFY_H
#define VERIFY_H

#include <cuferry/registry.h>

#include "constant.h"
#include "instance.h"
#include "message.h"
#include "verify_values.h"

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

/* Begins the library anew with an order of the CPU's, as CF_HOST_ORDER has it; NULL: with none. */
int verify_set_order(const char *order, struct message *message);

/* The user's own order, which `text` keeps; NULL where there is none. And another one. */
const char *verify_own_order(char *text, size_t size);
const char *verify_other_order(const char *own);

enum verify_outcome { VERIFY_AGREES, VERIFY_REFUSED, VERIFY_DIFFERS, VERIFY_LOST };

/* The same of one kernel and one choice of values; constants are set first. What is wrong is in the message: a call that
 * the device refuses, as with a block that is too large, results that differ or a call that fails, and a device that is
 * lost. Where `device` is CF_HOST, the library begins anew: nothing of it may be in use. */
enum verify_outcome verify_once(const struct verify_values *values, const struct constants *constants, int device,
                                struct message *message);

/* Runs a variant of a tuned kernel, with the values of the choice, and its first one on the same device, and compares. */
enum verify_outcome verify_variant(const struct verify_values *values, const struct constants *constants, int device,
                                   struct message *message);

#endif
