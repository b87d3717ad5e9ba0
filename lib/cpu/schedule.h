/* schedule.h - division of a launch's blocks among CPU threads. */
#ifndef CF__SCHEDULE_H
#define CF__SCHEDULE_H

#include <stdint.h>

#include <cuferry/registry.h>

/* Reports whether a launch is so small that the calling thread runs it alone, since waking a worker takes longer. */
int cf__schedule_is_small(uint64_t blocks, uint64_t block_threads);

/* Runs all blocks of a launch on the worker threads and the calling thread; returns when all are done. */
void cf__schedule_run(cf_host_body *body, const cf_host_launch *launch);

/* Returns the element number i of a permutation of 0 to count - 1, which `key` selects. */
uint64_t cf__schedule_shuffle(uint64_t i, uint64_t count, uint64_t key);

#endif
