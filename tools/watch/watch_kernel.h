/* watch_kernel.h - the twin of a kernel or an operation that is checked as it runs. */
#ifndef WATCH_KERNEL_H
#define WATCH_KERNEL_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* Makes a twin of a kernel whose first launch from now on is checked. `bytes` has the size of each parameter's array.
 * NULL if the kernel has no CPU body. */
const cf_kernel *watch_kernel(const cf_kernel *kernel, const size_t *bytes, struct message *message);

#endif
