/* compile.h - compiles CUDA C++ for a GPU at run time. */
#ifndef CF__COMPILE_H
#define CF__COMPILE_H

#include <cuferry/program.h>

#include "program/compiled.h"

/* Checks options of cf_program_compile(), or of cf_program_link() if `is_link`. Returns a status, whose message names
 * `function`. */
int cf__options_check(const char *function, const cf_program_options *options, int is_link);

/* Compiles a source, or takes it from the cache. Returns a status of cf_program_compile(), whose message names
 * request->function. The log is in `compiled` in each case; the caller frees `compiled` with cf__compiled_free(). */
int cf__compile_source(const struct cf__request *request, struct cf__compiled *compiled);

#endif
