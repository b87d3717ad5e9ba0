/* failure.h - statuses and texts of a driver's results. */
#ifndef CF__FAILURE_H
#define CF__FAILURE_H

#include <stddef.h>

#include "driver/driver.h"

/* The status that a driver's result stands for. */
int cf__status_of(CUresult result);

/* Whether a result means that what was to be freed is gone already: with its context, or with the driver. */
int cf__is_gone(CUresult result);

/* Writes "what: call returned 1 (NAME, text)"; for the CPU's driver the cause that was noted, if there is one. */
void cf__describe_result(const struct cf__driver *driver, CUresult result, const char *call, const char *what,
                         char *text, size_t size);

#endif
