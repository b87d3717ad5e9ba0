/* variant_text.h - finds the variant of a tuned kernel that the command line asks for. */
#ifndef VARIANT_TEXT_H
#define VARIANT_TEXT_H

#include <stdio.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* The one variant of `kernel` whose constants have the values of `text`, such as "BLOCK=512,ITEMS=2"; NULL where there
 * is not one. */
const cf_kernel *variant_pick(const cf_kernel *kernel, const char *text, struct message *message);

/* Whether a kernel stands for the one of its variants that the library chooses. */
static inline int variant_is_chosen(const cf_kernel *kernel)
{
    return kernel->nvariants && !kernel->nconstants;
}

/* Adds "BLOCK=512,ITEMS=2". */
void variant_add(const cf_kernel *variant, struct message *message);

#endif
