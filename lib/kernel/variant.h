/* variant.h - runs variants of kernels with tune(...). */
#ifndef CF__VARIANT_H
#define CF__VARIANT_H

#include <cuferry.h>
#include <cuferry/registry.h>

/* Launches a kernel, or calls it if the form of the call has no stream; returns a status. */
typedef int cf__run_kernel(const cf_kernel *kernel, cf_stream stream, void *const args[]);

/* Runs the variant that is chosen for a call of a kernel with tune(...). If the device refuses that variant, the first
 * one runs, and the call does not fail. Returns a status. */
int cf__variant_run(const cf_kernel *kernel, cf_stream stream, void *const args[], cf__run_kernel *run);

#endif
