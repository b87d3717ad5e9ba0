/* watch_operation.h - launches of a checked operation. */
#ifndef WATCH_OPERATION_H
#define WATCH_OPERATION_H

#include <cuferry/registry.h>

#include "base/message.h"

/* The own CPU body of a kernel, even if a watching body has replaced it. */
cf_host_body *watch_cpu_body(const cf_kernel *kernel);

/* Replaces the CPU bodies of an operation's kernels; -1 with a message. */
int watch_uses(const cf_kernel *operation, struct message *message);

/* Replaces the function of `finding_operation`. */
cf_enqueue_body watch_enqueue;

#endif
