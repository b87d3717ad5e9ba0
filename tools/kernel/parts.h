/* parts.h - a call in two parts, as split(...) permits it. */
#ifndef PARTS_H
#define PARTS_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Number of elements in the first of two parts, for way number k of cutting a call with these values: about a third
 * first, then numbers that are likelier to pass scalar checks; 0 after the last way. */
int64_t parts_cut(const cf_kernel *kernel, void *const args[], uint32_t k);

/* Calls the kernel for the first elements and then for the rest; the library's status, or -1 with the message. */
int parts_call(const cf_kernel *kernel, void *const args[], int64_t first, struct message *message);

#endif
