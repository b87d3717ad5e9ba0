/* run_resident.h - the fast path of the plain call. */
#ifndef CF__RUN_RESIDENT_H
#define CF__RUN_RESIDENT_H

#include <cuferry/registry.h>

struct cf__scope;

/* Runs a plain call whose scalars have passed the compiled checks, if the call is only a launch and a wait. Returns 1
 * and the status of the call; returns 0, without any effect, if the call needs the slow path. */
int cf__run_resident(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                     void *const args[], int *status);

#endif
