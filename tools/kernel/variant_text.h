/* variant_text.h - finds the variant of a tuned kernel that the command line names. */
#ifndef VARIANT_TEXT_H
#define VARIANT_TEXT_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Returns the variant of `kernel` with the values in `text`, such as "BLOCK=512,ITEMS=2"; NULL with a message if there
 * is not exactly one. */
const cf_kernel *variant_pick(const cf_kernel *kernel, const char *text, struct message *message);

/* Returns 1 if the library chooses among the kernel's variants. */
static inline int variant_is_chosen(const cf_kernel *kernel)
{
    return kernel->nvariants && !kernel->nconstants;
}

/* Appends a variant's values, such as "BLOCK=512,ITEMS=2". */
void variant_add(const cf_kernel *variant, struct message *message);

#endif
