/* trace_end.h - ends a trace. */
#ifndef CF__TRACE_END_H
#define CF__TRACE_END_H

#include "driver/driver.h"

/* Called when a driver comes into use; makes sure that the rest of a trace is written when the process ends. */
void cf__trace_end_at_exit(const struct cf__driver *driver);

/* Called by cf_shutdown() while the drivers are still in use; writes the rest of the trace and frees everything. */
void cf__trace_close(void);

#endif
