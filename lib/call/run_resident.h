/* run_resident.h - the plain call on resident arrays. */
#ifndef CF__RUN_RESIDENT_H
#define CF__RUN_RESIDENT_H

#include <cuferry/registry.h>

struct cf__scope;

/* A plain call whose arguments are in order, where all that is to be done is a launch and a wait: whether it was that,
 * and its status then. If not, nothing has been done. */
int cf__run_resident(const cf_kernel *kernel, const cf_size *size, const struct cf__scope *scope, void *const args[],
                     int *status);

#endif
