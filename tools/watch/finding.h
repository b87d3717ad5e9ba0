/* finding.h - findings of a checked kernel, on their way to the cf-run that started this one. */
#ifndef FINDING_H
#define FINDING_H

#include <cuferry/registry.h>

/* The kernel that findings are told of, and the operation that launches it, or NULL; as they are registered. */
extern const cf_kernel *finding_kernel, *finding_operation;

/* Has findings written to a descriptor. `path` is the module's, and stays the caller's. */
void finding_begin(int descriptor, const char *path);

/* Tells one finding. In the text stands {pc:N} for the source line of the module's byte N, {key:N} for the name of a
 * __shared__ variable there, {data:N} for one of the module's own data. */
void finding_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The place of an address in the module's file; 0 outside of the module. */
unsigned long finding_offset(const void *address);

/* The path that finding_begin() was given. */
const char *finding_module(void);

#endif
