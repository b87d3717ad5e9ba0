/* variant.h - variants of a kernel with tune(...), as calls run them. */
#ifndef CF__VARIANT_H
#define CF__VARIANT_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include "base/error.h"

struct cf__loaded;

/* How the variant of a call is tried, which may be refused though the first would not be: that is no failure then. */
struct cf__variant_try {
    const cf_kernel *kernel, *variant, *first;
    struct cf__loaded *loaded; /* the kernel's table */
    int size_class;            /* -1: it made no difference */
    struct cf__error before;   /* where it is not the first */
};
int cf__variant_try_begin(struct cf__variant_try *attempt, const cf_kernel *kernel, cf_stream stream,
                          void *const args[]);

/* Behind a launch of `variant`, with its status: whether it was refused, so that the first is to run. */
int cf__variant_try_refused(const struct cf__variant_try *attempt, void *const args[], int status);

int cf__launch_tuned(const cf_kernel *kernel, cf_stream stream, void *const args[]);

#endif
