/* copy.h - copies. */
#ifndef CF__COPY_H
#define CF__COPY_H

#include <stddef.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver/driver.h"

struct cf__scope;

/* Copies in the scope's context, on `stream` if `is_async` and immediately otherwise; returns the driver's result. */
CUresult cf__copy(const struct cf__scope *scope, void *target, const void *source, size_t bytes, int is_async,
                  cf_stream stream);

/* Copies a section between host and device memory; the strides are equal in both. `host` and `device` are the addresses
 * of the first element. Returns the driver's result and the name of the driver function. */
CUresult cf__copy_section(const struct cf__scope *scope, const cf_section *section, size_t element, void *host,
                          void *device, int to_host, const char **call);

#endif
