/* cpu_launch.h - runs one launch on the CPU. */
#ifndef CF__CPU_LAUNCH_H
#define CF__CPU_LAUNCH_H

#include <cuferry/registry.h>

#include "driver/driver.h"

/* Runs all blocks of a launch, on the calling thread alone if `is_serial`. The text of a failure becomes part of the
 * thread's next message. */
CUresult cf__cpu_run(const cf_kernel *kernel, const cf_host_launch *request, int is_serial);

#endif
