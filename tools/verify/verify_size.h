/* verify_size.h - one choice of values: a kernel's two runs with it, and the comparison of what they wrote. */
#ifndef VERIFY_SIZE_H
#define VERIFY_SIZE_H

#include <cuferry/registry.h>

#include "kernel/constant.h"
#include "kernel/inplace.h"
#include "base/message.h"
#include "verify/verify_values.h"

/* Under what a kernel runs. */
struct verify_conditions {
    const struct constants *constants; /* that are set first */
    const char *order;                 /* the user's own; NULL where there is none */
    int device;                        /* that is compared with the CPU; CF_HOST: the CPU in another order */
};

/* One kernel's, or variant's, runs. */
struct verify_trials {
    const cf_kernel *kernel;
    struct verify_values values;
    unsigned runs, in_place, in_parts;
    const struct inplace *inplace; /* of this run: arrays that are one; NULL: none are */
    uint32_t home;                 /* the number of that one */
    int64_t first_part;            /* of this run: elements of the first of two calls; 0: it is one */
    double tolerance;              /* of the latest run; below 0: bit for bit */
    double largest;                /* deviation of all */
    int is_lost;                   /* the device is of no use any more */
    int is_of_first;               /* a variant is compared with the first one */
    struct message wrong, refused;
};

/* Runs the kernel with values that verify_values_choose() has of these, where there are such, and again for arrays that are
 * one, and in two calls as split(...) has it. An error is in `trials`, behind the values that it came with. */
void verify_size(const struct verify_conditions *conditions, struct verify_trials *trials, int64_t size, int only);

/* Begins the library anew with an order of the CPU's, as CF_HOST_ORDER has it; NULL: with none. */
int verify_set_order(const char *order, struct message *message);

/* The user's own order, which `text` keeps; NULL where there is none. And another one. */
const char *verify_own_order(char *text, size_t size);
const char *verify_other_order(const char *own);

enum verify_outcome { VERIFY_AGREES, VERIFY_REFUSED, VERIFY_DIFFERS, VERIFY_LOST };

/* Two runs with a choice that is made, and nothing in place; constants are set first. What is wrong is in the message: a call that
 * the device refuses, as with a block that is too large, results that differ or a call that fails, and a device that is
 * lost. Where `device` is CF_HOST, the library begins anew: nothing of it may be in use. */
enum verify_outcome verify_once(const struct verify_values *values, const struct constants *constants, int device,
                                struct message *message);

/* Runs a variant of a tuned kernel, with the values of the choice, and its first one on the same device, and compares. */
enum verify_outcome verify_variant(const struct verify_values *values, const struct constants *constants, int device,
                                   struct message *message);

#endif
