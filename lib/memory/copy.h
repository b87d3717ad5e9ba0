/* copy.h - copies. */
#ifndef CF__COPY_H
#define CF__COPY_H

#include <stddef.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* Copies in the scope's context, on `stream` if `is_async`, else at once; returns the driver's result. */
CUresult cf__copy(const struct cf__scope *scope, void *target, const void *source, size_t bytes, int is_async,
                  cf_stream stream);

#endif
