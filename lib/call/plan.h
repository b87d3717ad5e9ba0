/* plan.h - where a plain call runs. */
#ifndef CF__PLAN_H
#define CF__PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "call/machine.h"

struct cf__grid;
struct cf__scope;
struct cf__section;

/* Where a call ran, what was copied, and why. */
struct cf__plan {
    char function[128];
    enum { CF__PLAN_FAILED, CF__PLAN_NOTHING, CF__PLAN_HOST, CF__PLAN_CPU, CF__PLAN_DEVICE } where;
    enum cf__reason {
        CF__PLAN_MIXED,
        CF__PLAN_NO_BODY,
        CF__PLAN_NOT_CLOSED,
        CF__PLAN_ASKED, /* by CF_HOST_DATA */
        CF__PLAN_SET,   /* by cf_set_host_data() */
        CF__PLAN_UNKNOWN,
        CF__PLAN_FORMULA
    } why; /* where arrays are staged, or could have been */
    int device;
    size_t in, out;            /* bytes that were copied, or would have been */
    size_t parts;              /* of a call that was split, else 0 */
    unsigned staged, in_place; /* arrays */
    enum cf__constants constants;
    double stage_time, cpu_time; /* expected, in seconds; by the formula */
    char variant[96];            /* of a tuned kernel */
};

/* That of the calling thread, begun anew. */
struct cf__plan *cf__plan_begin(const cf_kernel *kernel);

/* What staging would move, and elements that are taken for indices. */
struct cf__copy_cost {
    const cf_kernel *kernel;
    const struct cf__grid *size;
    size_t in, out;
    uint64_t indices;
    size_t both_in, both_out; /* of in and out, what goes at once */
};

/* Adds an array that is staged. */
void cf__copy_cost_add(struct cf__copy_cost *moves, uint32_t i, const struct cf__section *section);

/* The same array: it goes both ways beside other such arrays, part by part. */
void cf__copy_cost_both(struct cf__copy_cost *moves, uint32_t i, const struct cf__section *section);

/* Whether pinned arrays, too, are copied where a call can be split, as CF_HOST_DATA=stage has it; and who asked. */
int cf__plan_copies_pinned(enum cf__reason *why);

/* Whether a call whose arrays could all be staged runs on the CPU. */
int cf__plan_decide(const struct cf__copy_cost *moves, void *const args[], const struct cf__scope *scope,
                    struct cf__plan *plan, int *is_on_cpu);

int cf__plan_configure(void);  /* reads CF_HOST_DATA; before the first use */
int cf__checks_elements(void); /* as cf_set_check() has it */

#endif
