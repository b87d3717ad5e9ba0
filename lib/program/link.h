/* link.h - links GPU code at run time. */
#ifndef CF__LINK_H
#define CF__LINK_H

#include <stddef.h>

#include <cuferry/program.h>

#include "program/compiled.h"

/* Compiles the sources among the inputs and links everything, or takes the results from the cache. The request has a
 * function, options and a device. Returns a status of cf_program_link(), whose message names the function. Stores the
 * log in `compiled` in any case; the caller frees `compiled` with cf__compiled_free(). */
int cf__link_inputs(const struct cf__request *request, const cf_program_input *inputs, size_t count,
                    struct cf__compiled *compiled);

#endif
