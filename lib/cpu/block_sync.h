/* block_sync.h - waits for all threads of a block, a cluster or a grid. */
#ifndef CF__BLOCK_SYNC_H
#define CF__BLOCK_SYNC_H

#include <stdint.h>

#include <cuferry/cpu/abi.h>

struct cf__block;

/* The functions below are entries of cf_host_ops. */
uint64_t cf__block_sync(cf_host_block *block, cf_host_vote vote, int value, const cf_host_where *where);
void cf__block_sync_cluster(cf_host_block *block, int steps, const cf_host_where *where);
void cf__block_sync_grid(cf_host_block *block, const cf_host_where *where);

/* Opens the barriers that were waiting only for the thread of the block that has just ended. */
void cf__block_sync_end(struct cf__block *block);

#endif
