/* warp.h - operations of a warp's lanes. */
#ifndef CF__WARP_H
#define CF__WARP_H

#include <stdint.h>

#include <cuferry/cpu/abi.h>

#include "cpu/runner.h"

struct cf__warp;

/* Performs an operation of the lanes in `mask`. Suspends the running thread until all of those lanes have arrived or
 * ended. Returns the lane's result. */
uint64_t cf__warp_exchange(cf_host_block *block, uint32_t mask, uint64_t value, cf_host_warp what,
                           const cf_host_where *where);
/* Suspends the running thread until no lane of its warp can run. Returns the mask of the lanes that wait at `where`. */
uint32_t cf__warp_active(cf_host_block *block, const cf_host_where *where);

/* Completes operations that were waiting only for lanes that are now suspended or have ended. `first` is the number of
 * lane 0. */
void cf__warp_settle(struct cf__runner *runner, struct cf__warp *warp, uint32_t first);

/* Calls cf__warp_settle() for the warp of the running thread, which is in `block`. */
static inline void cf__warp_settle_current(struct cf__block *block)
{
    struct cf__runner *runner = block->runner;
    uint32_t thread = runner->current - block->first;
    cf__warp_settle(runner, &block->warps[thread / 32], runner->current - thread % 32);
}

#endif
