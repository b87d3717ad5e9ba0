/* trace_driver.h - a driver that notes its calls. */
#ifndef CF__TRACE_DRIVER_H
#define CF__TRACE_DRIVER_H

#include <cuferry/registry.h>

#include "driver/driver.h"

/* The table to use in place of `driver`, which works by then; that itself where there is no trace. */
const struct cf__driver *cf__trace_wrap(const struct cf__driver *driver);

/* That a GPU's function is this kernel. */
void cf__trace_kernel(CUfunction function, const cf_kernel *kernel);

void cf__trace_kernels_forget(void);

#endif
