/* cpu_launch.h - one launch on the CPU. */
#ifndef CF__CPU_LAUNCH_H
#define CF__CPU_LAUNCH_H

#include <cuferry/registry.h>

#include "driver/driver.h"

/* Runs all blocks of a launch; what it fails with is told by the thread's next message. `is_serial`: on this thread alone. */
CUresult cf__cpu_run(const cf_kernel *kernel, const cf_host_launch *what, int is_serial);

#endif
