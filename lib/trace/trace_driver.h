/* trace_driver.h - a driver table that records each call in the trace. */
#ifndef CF__TRACE_DRIVER_H
#define CF__TRACE_DRIVER_H

#include <cuferry/registry.h>

#include "driver/driver.h"

/* Returns the table to use instead of `driver`, which already works; returns `driver` itself if there is no trace. */
const struct cf__driver *cf__trace_wrap(const struct cf__driver *driver);

/* Records which kernel a GPU's function handle stands for, so that spans have the kernel's name. */
void cf__trace_note_kernel(CUfunction function, const cf_kernel *kernel);

/* Frees the recorded names. */
void cf__trace_forget_kernels(void);

#endif
