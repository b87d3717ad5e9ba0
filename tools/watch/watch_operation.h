/* watch_operation.h - checks the kernels that an operation launches. */
#ifndef WATCH_OPERATION_H
#define WATCH_OPERATION_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Returns a kernel's own CPU body, even if a watching body has replaced it in the descriptor. */
cf_host_body *watch_cpu_body(const cf_kernel *kernel);

/* Replaces the CPU bodies of an operation's kernels. Returns 0, or -1 with a message. */
int watch_uses(const cf_kernel *operation, struct message *message);

/* Replaces the function of `finding_operation`. */
cf_enqueue_body watch_enqueue;

#endif
