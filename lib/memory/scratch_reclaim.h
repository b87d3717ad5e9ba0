/* scratch_reclaim.h - scratch memory that is freed. */
#ifndef CF__SCRATCH_RECLAIM_H
#define CF__SCRATCH_RECLAIM_H

#include <stdint.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* Before a stream of the scope's context is destroyed: frees its memory in its order. Memory of no pool stays until a wait
 * for the context, since to free it would wait for the stream. Relaxed. */
void cf__scratch_drop(const struct cf__scope *scope, cf_stream stream);

/* Frees in the scope's context what no launch uses any more, as far as is known without a wait, and what contexts of its
 * device that are gone have left; whether there was any. Relaxed. */
int cf__scratch_cache_trim(const struct cf__scope *scope);

/* Launches that have been enqueued by now are told apart from later ones by what the first returns; behind a wait for
 * the context they are done. */
uint64_t cf__scratch_cache_now(void);
void cf__scratch_cache_done(CUcontext context, uint64_t now);

int cf__scratch_cache_free(const struct cf__driver *cuda);           /* all, at cf_shutdown() */
void cf__scratch_cache_forget(unsigned long long context);           /* of a context that is gone; */
void cf__scratch_cache_lose(unsigned long long context, int device); /* of one that a fault has taken along; */
void cf__scratch_cache_forget_all(void);                             /* all, without the driver */

/* Looks at one of the table, another one each time, for what contexts that another library has destroyed have left;
 * `current` is the id of the scope's. */
void cf__scratch_cache_look(const struct cf__scope *scope, unsigned long long current);

#endif
