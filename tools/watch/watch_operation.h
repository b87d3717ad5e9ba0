/* watch_operation.h - launches of a checked operation. */
#ifndef WATCH_OPERATION_H
#define WATCH_OPERATION_H

#include <cuferry/registry.h>

#include "base/message.h"

/* The CPU body of a kernel, of which one that watches may have taken the place. */
cf_host_body *watch_host(const cf_kernel *kernel);

/* Has the kernels of an operation watched; -1 with a message where that cannot be. */
int watch_uses(const cf_kernel *operation, struct message *message);

/* Takes the place of the function of `finding_operation`. */
cf_enqueue_body watch_enqueue;

#endif
