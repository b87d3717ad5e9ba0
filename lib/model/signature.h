/* signature.h - reads signatures of kernels at run time. */
#ifndef CF__SIGNATURE_H
#define CF__SIGNATURE_H

#include <cuferry/registry.h>

/* Reads a signature, as <cuferry/program.h> describes it, into the parameters, the launch rule and the checks of a
 * descriptor. The tables are in one block of memory, which the caller frees. Returns a status; messages name `function`
 * and the descriptor's name. */
int cf__signature_read(const char *function, const char *text, cf_kernel *kernel, void **block);

#endif
