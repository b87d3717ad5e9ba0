/* trace_driver.h - a driver table that records its calls. */
#ifndef CF__TRACE_DRIVER_H
#define CF__TRACE_DRIVER_H

#include <cuferry/registry.h>

#include "driver/driver.h"

/* Returns the table to use in place of `driver`, which works already; `driver` itself if there is no trace. */
const struct cf__driver *cf__trace_wrap(const struct cf__driver *driver);

/* Notes that a GPU's function is this kernel, for the names of spans. */
void cf__trace_note_kernel(CUfunction function, const cf_kernel *kernel);

/* Frees the noted names. */
void cf__trace_forget_kernels(void);

#endif
