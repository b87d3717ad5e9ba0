/* warp.h - operations of warps. */
#ifndef CF__WARP_H
#define CF__WARP_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "cpu/block.h"

struct cf__warp;

uint64_t cf__warp_exchange(cf_host_block *block, uint32_t mask, uint64_t value, cf_host_warp what,
                           const cf_host_where *where);
uint32_t cf__warp_active(cf_host_block *block, const cf_host_where *where);

/* A lane has stopped or ended: what waits for it may be complete. `first` is the number of lane 0. */
void cf__warp_settle(struct cf__runner *runner, struct cf__warp *warp, uint32_t first);

/* The same for the warp of the running thread. */
static inline void cf__block_settle(struct cf__block *block)
{
    struct cf__runner *runner = block->runner;
    uint32_t thread = runner->current - block->first;
    cf__warp_settle(runner, &block->warps[thread / 32], runner->current - thread % 32);
}

#endif
