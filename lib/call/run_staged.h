/* run_staged.h - the plain call with copies of arrays. */
#ifndef CF__RUN_STAGED_H
#define CF__RUN_STAGED_H

#include <stdint.h>

struct cf__call;
struct cf__transfer;

/* Runs the kernel with copies of arrays that the GPU does not reach. */
int cf__run_staged(struct cf__call *call);

#endif
