/* scratch_reclaim.h - frees cached scratch memory. */
#ifndef CF__SCRATCH_RECLAIM_H
#define CF__SCRATCH_RECLAIM_H

#include <stdint.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* Frees the block of a stream in the stream's order, before the stream is destroyed. Memory that belongs to no pool
 * stays allocated until a wait for the context, because freeing it would wait for the stream. The caller has relaxed
 * the capture mode. */
void cf__reclaim_stream(const struct cf__scope *scope, cf_stream stream);

/* Frees the orphans of the scope's device `device`: blocks of pool memory whose contexts are gone. Returns their
 * number. The caller has relaxed the capture mode. */
int cf__reclaim_orphans(const struct cf__scope *scope, CUdevice device);

/* Frees blocks of the scope's context that are known to be unused, and orphans of its device, without waiting. Returns
 * 1 if it freed any. The caller has relaxed the capture mode. */
int cf__reclaim_trim(const struct cf__scope *scope, CUdevice device);

/* Returns the number of launches so far. A caller reads it before a wait for the context, and then passes it to
 * cf__reclaim_note_wait(). */
uint64_t cf__reclaim_launch_count(void);

/* Records a successful wait for the context, which began after `launches` launches and so completed them. */
void cf__reclaim_note_wait(CUcontext context, uint64_t launches);

int cf__reclaim_all(const struct cf__driver *cuda);            /* frees all blocks, at cf_shutdown() */
void cf__reclaim_forget(unsigned long long context);           /* forgets a destroyed context */
void cf__reclaim_lose(unsigned long long context, int device); /* forgets a context lost to a fault */
void cf__reclaim_forget_all(void);                             /* forgets all blocks without calling the driver */

/* Checks the next entry of the table, whose context another library may have destroyed. It is called if the table is
 * full. `current` is the id of the scope's context. */
void cf__reclaim_sweep(const struct cf__scope *scope, unsigned long long current);

#endif
