/* finding.h - sends findings of a checked kernel to the cf-run that started this one. */
#ifndef FINDING_H
#define FINDING_H

#include <cuferry/registry.h>

/* The registered kernel that findings name, and the operation that launches it, or NULL. */
extern const cf_kernel *finding_kernel, *finding_operation;

/* Sets the file descriptor for findings, and the module's path, which the caller keeps valid. */
void finding_begin(int descriptor, const char *path);

/* Sends one finding. In the text, {pc:N} stands for the source line of the code at byte N of the module, {key:N} for
 * the name of a __shared__ variable, and {data:N} for the name of a variable at file scope. */
void finding_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Begins a line with NAME=VALUE, the environment variable with which a further run continues after this one. */
#define FINDING_NEXT "{next}"

/* Sends the line with FINDING_NEXT if this program runs many kernels. It is called when the program is about to end. */
void finding_tell_next(void);

/* Returns 1 at the first call for an address in the code, so that a finding is reported once per address; returns 0
 * after 64 addresses. */
int finding_is_new(const void *pc);

/* Returns the offset of an address in the module; 0 outside the module. */
unsigned long finding_offset(const void *address);

/* Returns the path that was given to finding_begin(). */
const char *finding_module(void);

#endif
