/* run_staged.h - the plain call with copies of arrays. */
#ifndef CF__RUN_STAGED_H
#define CF__RUN_STAGED_H

struct cf__call;

/* Runs the kernel with copies of arrays that the GPU does not reach; returns a status. */
int cf__run_staged(struct cf__call *call);

#endif
