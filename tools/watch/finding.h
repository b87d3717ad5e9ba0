/* finding.h - sends findings of a checked kernel to the cf-run that started this one. */
#ifndef FINDING_H
#define FINDING_H

#include <cuferry/registry.h>

/* Registered kernel that findings name, and the operation that launches it, or NULL. */
extern const cf_kernel *finding_kernel, *finding_operation;

/* Sets the file descriptor for findings. `path` is the module's; the caller keeps it. */
void finding_begin(int descriptor, const char *path);

/* Sends one finding. {pc:N} in the text stands for the source line of the module's byte N, {key:N} for the name of a
 * __shared__ variable, {data:N} for one of the module's own data. */
void finding_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Begins a line with the environment variable of a program that goes on after this one: NAME=VALUE. */
#define FINDING_NEXT "{next}"

/* Sends that line if this program runs many kernels; called when it is about to end. */
void finding_tell_next(void);

/* 1 at the first call for a place in the code, for findings that are told once per place; 0 after 64 places. */
int finding_is_new(const void *pc);

/* Offset of an address in the module's file; 0 outside the module. */
unsigned long finding_offset(const void *address);

/* The path given to finding_begin(). */
const char *finding_module(void);

#endif
