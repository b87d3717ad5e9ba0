/* schedule.h - divides a launch's blocks among CPU threads. */
#ifndef CF__SCHEDULE_H
#define CF__SCHEDULE_H

#include <stdint.h>

#include <cuferry/registry.h>

/* Returns 1 if the calling thread will probably run a launch alone: the launch has few CUDA threads, and if each takes
 * as long as in the kernel's earlier launches, the launch is shorter than waking a worker takes. */
int cf__schedule_is_alone(cf_host_body *body, uint64_t blocks, uint64_t block_threads);

/* Records that `threads` CUDA threads of a kernel took `ns` nanoseconds on one CPU thread. The first launch is ignored,
 * because it allocates memory. */
void cf__schedule_note(cf_host_body *body, uint64_t threads, int64_t ns);

/* Runs all blocks of a launch on the worker threads and the calling thread; returns when all are done. */
void cf__schedule_run(cf_host_body *body, const cf_host_launch *launch);

/* Returns the i-th element of a permutation of 0 to count - 1; `key` selects the permutation. */
uint64_t cf__schedule_shuffle(uint64_t i, uint64_t count, uint64_t key);

#endif
