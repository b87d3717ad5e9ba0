/* failure.h - maps a driver's results to statuses and texts. */
#ifndef CF__FAILURE_H
#define CF__FAILURE_H

#include <stddef.h>

#include "driver/driver.h"

/* Returns the status for a driver's result. */
int cf__result_status(CUresult result);

/* Returns 1 if the result of a free means that nothing is left to free: the driver or the context is gone, or the
 * context is lost and will be destroyed as a whole. */
int cf__result_is_gone(CUresult result);

/* Writes "what: call returned 1 (NAME, text)"; for the CPU driver, writes "what: " and the noted cause, if any. */
void cf__result_describe(const struct cf__driver *driver, CUresult result, const char *call, const char *what,
                         char *text, size_t size);

#endif
