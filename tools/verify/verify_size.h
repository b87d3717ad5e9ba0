/* verify_size.h - runs a kernel twice with the same values, and compares the results. */
#ifndef VERIFY_SIZE_H
#define VERIFY_SIZE_H

#include <cuferry/registry.h>

#include "kernel/constant.h"
#include "kernel/inplace.h"
#include "base/message.h"
#include "verify/verify_values.h"

/* Conditions of the runs. */
struct verify_conditions {
    const struct constants *constants; /* set before the runs */
    const char *order;                 /* the order on the CPU that the user set; NULL: none */
    int is_single;                     /* each kernel runs once, without a comparison */
    int device;                        /* device that is compared with the CPU; CF_HOST: the CPU in another order */
};

/* Runs of one kernel or variant. */
struct verify_trials {
    const cf_kernel *kernel;
    struct verify_values values;
    unsigned runs, in_place, in_parts;
    const struct inplace *inplace; /* arrays that share memory in this run; NULL: none */
    uint32_t home;                 /* number of the shared array */
    int64_t first_part;            /* elements of the first of two calls in this run; 0: one call */
    double tolerance;              /* tolerance of the latest comparison; below 0: bit for bit */
    double largest;                /* largest deviation of all runs */
    int is_lost;                   /* the device cannot be used any more */
    int is_of_first;               /* the variant is compared with the first variant */
    struct message wrong, refused;
};

/* Runs the kernel with values chosen by verify_values_choose(), if it finds any, then with shared arrays, and in two
 * calls as split(...) permits. The text of an error in `trials` follows that of the values. */
void verify_size(const struct verify_conditions *conditions, struct verify_trials *trials, int64_t size, int only);

/* Restarts the library with an order on the CPU, as CF_HOST_ORDER names it; NULL: the default order. */
int verify_set_order(const char *order, struct message *message);

/* Return the user's order, which is stored in `text`, or NULL if there is none; and an order that differs from
 * `own`. */
const char *verify_own_order(char *text, size_t size);
const char *verify_other_order(const char *own);

enum verify_outcome { VERIFY_AGREES, VERIFY_REFUSED, VERIFY_DIFFERS, VERIFY_LOST };

/* Makes two runs with chosen values and separate arrays, after setting the constants. The message reports refused
 * calls, differences, failures and a lost device. If `device` is CF_HOST, the library restarts, so that nothing of it
 * may be in use. */
enum verify_outcome verify_once(const struct verify_values *values, const struct constants *constants, int device,
                                struct message *message);

/* Runs a variant of a tuned kernel and its first variant on the same device with the chosen values, and compares. */
enum verify_outcome verify_variant(const struct verify_values *values, const struct constants *constants, int device,
                                   struct message *message);

#endif
