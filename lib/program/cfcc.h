/* cfcc.h - compiles annotated sources to programs with cfcc. */
#ifndef CF__CFCC_H
#define CF__CFCC_H

#include <cuferry/program.h>

#include "program/compiled.h"

/* Returns 1 if a line of the source begins with `#pragma cf kernel`. */
int cf__cfcc_takes(const char *source);

/* Compiles an annotated source, or takes the result from the cache. Creates a program for the CPU, and also for a GPU
 * of request->capability if that is not 0. Returns a status of cf_program_compile(). */
int cf__cfcc_compile(const struct cf__request *request, cf_program **program);

#endif
