/* parts.h - a call in two parts, as split(...) says that it may be made. */
#ifndef PARTS_H
#define PARTS_H

#include <cuferry/registry.h>

#include "message.h"

/* How many elements the first part has, where a call with these values can be made in two: some, and another number than
 * the second part; 0: it cannot. */
int64_t parts_cut(const cf_kernel *kernel, void *const args[]);

/* Calls the kernel for so many elements, and then for the others: a status of the library's, or -1, with the message. */
int parts_call(const cf_kernel *kernel, void *const args[], int64_t first, struct message *message);

#endif
