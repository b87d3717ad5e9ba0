/* schedule.h - blocks and CPU threads. */
#ifndef CF__SCHEDULE_H
#define CF__SCHEDULE_H

#include <stdint.h>

#include <cuferry/registry.h>

/* Whether the calling thread runs a launch alone, since waking others takes longer. */
int cf__schedule_is_small(uint64_t blocks, uint64_t block_threads);

/* Runs all blocks of a launch on the worker threads and the calling one; returns when they are done. */
void cf__schedule_run(cf_host_body *body, const cf_host_launch *launch);

/* The place of number i in an order of 0 to count - 1, which is another one for each key. */
uint64_t cf__shuffled(uint64_t i, uint64_t count, uint64_t key);

#endif
