/* run_staged.h - runs a plain call on a GPU with copies of arrays. */
#ifndef CF__RUN_STAGED_H
#define CF__RUN_STAGED_H

struct cf__call;

/* Runs the kernel with copies of the arrays that the GPU cannot access; returns a status. */
int cf__run_staged(struct cf__call *call);

#endif
