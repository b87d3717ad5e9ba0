/* chunk.h - decides whether a plain call runs in chunks, and launches the chunks. */
#ifndef CF__CHUNK_H
#define CF__CHUNK_H

#include <stdint.h>

struct cf__call;

/* Decides whether the call is split, after its pointers were checked. A split call may copy pinned arrays instead of
 * using them in place. */
void cf__chunk_decide(struct cf__call *call);

/* Returns 1 if the array is copied chunk by chunk. */
int cf__chunk_copies(const struct cf__call *call, uint32_t i);

/* Copies chunks in, runs the kernel on each, copies results out and waits; returns a status. The caller has allocated
 * device memory and enqueued the copies of arrays that are not split. */
int cf__chunk_run(struct cf__call *call);

#endif
