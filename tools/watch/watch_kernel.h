/* watch_kernel.h - makes the twin of a kernel or an operation, which is checked as it runs. */
#ifndef WATCH_KERNEL_H
#define WATCH_KERNEL_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* Returns a twin of a kernel, whose next launch is checked. `bytes` has the size of each parameter's array. Returns
 * NULL with a message if the kernel has no CPU body. */
const cf_kernel *watch_kernel(const cf_kernel *kernel, const size_t *bytes, struct message *message);

#endif
