/* plan.h - the decision where a plain call runs. */
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
        CF__PLAN_ASKED, /* CF_HOST_DATA asks for it */
        CF__PLAN_SET,   /* cf_set_host_data() asks for it */
        CF__PLAN_UNKNOWN,
        CF__PLAN_FORMULA
    } why;                     /* reason, if arrays are staged or could have been */
    int device;                /* CF_HOST or number of a GPU */
    size_t in, out;            /* bytes that were copied, or would be copied by staging */
    size_t chunks;             /* chunks of a split call; 0: not split */
    unsigned staged, in_place; /* numbers of arrays */
    enum cf__constants constants;
    double stage_time, cpu_time; /* estimates of the formula, in seconds */
    char variant[96];            /* constants of the variant; "": no variant */
};

/* Resets the plan of the calling thread, which stays valid until the next call. */
struct cf__plan *cf__plan_begin(const cf_kernel *kernel);

/* Bytes that staging would copy, and elements that count as indices. */
struct cf__copy_cost {
    const cf_kernel *kernel;
    const cf_launch_size *size;
    size_t in, out;
    uint64_t indices;
    size_t both_in, both_out; /* parts of in and out that are copied at the same time */
};

/* Adds staged array `i`. */
void cf__copy_cost_add(struct cf__copy_cost *cost, uint32_t i, const cf_section *section);

/* Notes that array `i`, which was added, is copied chunk by chunk, beside other such arrays in the other direction. */
void cf__copy_cost_both(struct cf__copy_cost *cost, uint32_t i, const cf_section *section);

/* Returns 1 if a split call copies pinned arrays, too, as CF_HOST_DATA=stage asks; `why` is the source of the
 * setting. */
int cf__plan_copies_pinned(enum cf__reason *why);

/* Decides if a call whose arrays could all be staged runs on the CPU, and notes the reason in `plan`; returns a
 * status. */
int cf__plan_decide(const struct cf__copy_cost *cost, void *const args[], const struct cf__scope *scope,
                    struct cf__plan *plan, int *is_on_cpu);

#endif
