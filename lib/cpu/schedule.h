/* schedule.h - division of a launch's blocks among CPU threads. */
#ifndef CF__SCHEDULE_H
#define CF__SCHEDULE_H

#include <stdint.h>

#include <cuferry/registry.h>

/* Reports whether the calling thread probably runs a launch alone: it has few CUDA threads, and its kernel's earlier
 * launches took less time than waking a worker, or there were none. */
int cf__schedule_is_alone(cf_host_body *body, uint64_t blocks, uint64_t block_threads);

/* Notes that `threads` CUDA threads of a kernel took one CPU thread `ns` nanoseconds. The first launch does not count,
 * since it allocates memory. */
void cf__schedule_note(cf_host_body *body, uint64_t threads, int64_t ns);

/* Runs all blocks of a launch on the worker threads and the calling thread; returns when all are done. */
void cf__schedule_run(cf_host_body *body, const cf_host_launch *launch);

/* Returns the element number i of a permutation of 0 to count - 1, which `key` selects. */
uint64_t cf__schedule_shuffle(uint64_t i, uint64_t count, uint64_t key);

#endif
