/* variant.h - runs variants of kernels with tune(...). */
#ifndef CF__VARIANT_H
#define CF__VARIANT_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include "base/error.h"

struct cf__loaded;

/* An attempt to run the chosen variant. If the device refuses it, the first variant runs, and the call does not
 * fail. */
struct cf__variant_try {
    const cf_kernel *kernel, *variant, *first;
    struct cf__loaded *loaded; /* node of the kernel, with the chosen variants */
    int size_class;            /* size class; -1: not computed, because all classes have the same variant */
    struct cf__error before;   /* last error before the attempt, if `variant` is not `first` */
};

/* Chooses the variant for a call and saves the last error; returns a status. */
int cf__variant_try_begin(struct cf__variant_try *attempt, const cf_kernel *kernel, cf_stream stream,
                          void *const args[]);

/* Takes the status of running `variant`; returns 1 if the caller has to run `first` instead. */
int cf__variant_try_refused(const struct cf__variant_try *attempt, void *const args[], int status);

/* Does the work of cf_launch() for a kernel with tune(...). */
int cf__launch_tuned(const cf_kernel *kernel, cf_stream stream, void *const args[]);

#endif
