/* compile.h - compiles CUDA C++ for a GPU at run time. */
#ifndef CF__COMPILE_H
#define CF__COMPILE_H

#include "program/compiled.h"

/* Compiles a source, or takes it from the cache. Returns a status, whose message names request->function:
 *   CF_ECOMPILE: the source does not compile, or not within the time limit; the message has the first error.
 *   CF_ENOTSUP: there is no NVRTC of the driver's CUDA version or an older one; the message has the paths tried.
 *   CF_ENOCODE: NVRTC does not compile for the device.
 *   CF_EINVAL: the options are wrong, or the cache's folder is.
 * The log is in `compiled` in each case; the caller frees `compiled` with cf__compiled_free(). */
int cf__compile(const struct cf__request *request, struct cf__compiled *compiled);

#endif
