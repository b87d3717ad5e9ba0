/* parts.h - a call in two parts, as split(...) says that it may be made. */
#ifndef PARTS_H
#define PARTS_H

#include <cuferry/registry.h>

#include "base/message.h"

/* How many elements the first of two parts has, in the way number k to cut a call with these values: about a third of all, and
 * then numbers that checks of scalars are likelier to pass; 0 past the last. */
int64_t parts_cut(const cf_kernel *kernel, void *const args[], uint32_t k);

/* Calls the kernel for so many elements, and then for the others: a status of the library's, or -1, with the message. */
int parts_call(const cf_kernel *kernel, void *const args[], int64_t first, struct message *message);

#endif
