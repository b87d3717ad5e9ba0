/* tuning.h - variants of kernels with tune(...). */
#ifndef CF__TUNING_H
#define CF__TUNING_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include "base/error.h"

struct cf__choice;
struct cf__loaded;

/* Works out what runs on a device of that architecture, 0: the CPU; for image.c, which keeps it. */
void cf__tuning_choose(const cf_kernel *kernel, int capability, struct cf__choice *choice);

/* How the variant of a call is tried, which may be refused though the first would not be: that is no failure then. */
struct cf__variant_try {
    const cf_kernel *kernel, *variant, *first;
    struct cf__loaded *loaded; /* the kernel's table */
    int size_class;            /* -1: it made no difference */
    struct cf__error before;   /* where it is not the first */
};
int cf__variant_try_begin(struct cf__variant_try *attempt, const cf_kernel *kernel, cf_stream stream, void *const args[]);

/* Behind a launch of `variant`, with its status: whether it was refused, so that the first is to run. */
int cf__variant_try_refused(const struct cf__variant_try *attempt, void *const args[], int status);

int cf__launch_tuned(const cf_kernel *kernel, cf_stream stream, void *const args[]);

void cf__tuning_forget(void); /* at cf_shutdown() */
void cf__tuning_lock(void);   /* for fork */
void cf__tuning_unlock(void);

#endif
