/* chunk.h - calls that are split. */
#ifndef CF__CHUNK_H
#define CF__CHUNK_H

#include <stdint.h>

struct cf__call;

/* Decides whether the call is split, once its arrays are known: pinned ones that are copied then are no longer used in
 * place. */
void cf__chunk_decide(struct cf__call *call);

/* Whether parts of the array are copied by themselves. */
int cf__is_chunked(const struct cf__call *call, uint32_t i);

/* Copies parts in, runs the kernel on each, and copies them out. Memory is allocated, and whole arrays are on their way in
 * the order of the call's set. Complete when it returns. */
int cf__chunk_run(struct cf__call *call);

#endif
