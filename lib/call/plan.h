/* plan.h - decides where a plain call runs. */
#ifndef CF__PLAN_H
#define CF__PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "call/machine.h"

struct cf__scope;

/* The plan of a call: its device, copies and reasons. */
struct cf__plan {
    char function[128];
    enum { CF__PLAN_FAILED, CF__PLAN_NOTHING, CF__PLAN_HOST, CF__PLAN_CPU, CF__PLAN_DEVICE } where;
    enum cf__reason {
        CF__PLAN_MIXED,
        CF__PLAN_NO_BODY,
        CF__PLAN_NOT_CLOSED,
        CF__PLAN_ASKED, /* CF_HOST_DATA requests the plan */
        CF__PLAN_SET,   /* cf_set_host_data() requests the plan */
        CF__PLAN_UNKNOWN,
        CF__PLAN_FORMULA
    } why;                     /* reason of the plan, if arrays are staged or could have been */
    int device;                /* CF_HOST or the number of a GPU */
    size_t in, out;            /* bytes that were copied, or that staging would have copied */
    size_t chunks;             /* number of chunks of a split call; 0: not split */
    unsigned staged, in_place; /* number of staged arrays, and of arrays used in place */
    enum cf__constants constants;
    double stage_time, cpu_time; /* the formula's estimates in seconds */
    char variant[96];            /* constants of the tuned kernel's variant, or "" */
};

/* Resets the plan of the calling thread; the plan stays valid until the next call. */
struct cf__plan *cf__plan_begin(const cf_kernel *kernel);

/* Number of bytes that staging would copy, and number of elements that count as indices. */
struct cf__copy_cost {
    const cf_kernel *kernel;
    const cf_launch_size *size;
    size_t in, out;
    uint64_t indices;
    size_t both_in, both_out; /* bytes of in and out that are copied simultaneously */
};

/* Adds array `i`, which would be staged. */
void cf__copy_cost_add(struct cf__copy_cost *cost, uint32_t i, const cf_section *section);

/* Records that array `i`, which was added before, is copied chunk by chunk, while other such arrays are copied in the
 * other direction. */
void cf__copy_cost_both(struct cf__copy_cost *cost, uint32_t i, const cf_section *section);

/* Returns 1 if a split call also copies pinned arrays, as CF_HOST_DATA=stage requests; `why` is the source of the
 * setting. */
int cf__plan_copies_pinned(enum cf__reason *why);

/* Decides whether a call whose arrays could all be staged runs on the CPU instead, and stores the reason in `plan`;
 * returns a status. */
int cf__plan_decide(const struct cf__copy_cost *cost, void *const args[], const struct cf__scope *scope,
                    struct cf__plan *plan, int *is_on_cpu);

#endif
