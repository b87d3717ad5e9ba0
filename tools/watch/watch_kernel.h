/* watch_kernel.h - the twin of a kernel, or of an operation, that is watched as it runs. */
#ifndef WATCH_KERNEL_H
#define WATCH_KERNEL_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* A twin of a kernel that is watched as it runs: its first launch from now on. `bytes` has the size of each parameter's
 * array. NULL where the kernel has no form for the CPU. */
const cf_kernel *watch_kernel(const cf_kernel *kernel, const size_t *bytes, struct message *message);

#endif
