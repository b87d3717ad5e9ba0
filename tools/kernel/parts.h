/* parts.h - makes a call in two parts, as split(...) permits. */
#ifndef PARTS_H
#define PARTS_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Returns the number of elements in the first part, for way number k of dividing a call with these values. The first
 * way takes about a third; later ways take numbers that are more likely to pass the checks of scalars. Returns 0 after
 * the last way. */
int64_t parts_cut(const cf_kernel *kernel, void *const args[], uint32_t k);

/* Calls the kernel for the first elements and then for the rest. Returns the library's status, or -1 with a message. */
int parts_call(const cf_kernel *kernel, void *const args[], int64_t first, struct message *message);

#endif
