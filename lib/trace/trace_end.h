/* trace_end.h - the end of a trace. */
#ifndef CF__TRACE_END_H
#define CF__TRACE_END_H

#include "driver/driver.h"

/* When a driver has come into use: has the process's end write what is left of a trace. */
void cf__trace_end_at_exit(const struct cf__driver *driver);

/* At cf_shutdown(), while the drivers are still in use: writes what is left, and frees everything. */
void cf__trace_close(void);

#endif
