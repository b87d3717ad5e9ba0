/* barrier.h - barriers in a kernel's memory, which are words that kernels change by atomic operations; see abi.h. */
#ifndef CF__BARRIER_H
#define CF__BARRIER_H

#include <cuferry/cpu/abi.h>

#include <stdint.h>

struct cf__runner;

/* Suspends the running thread until the barrier at `word` has left `phase` (bit 63). It may return early. */
void cf__barrier_wait(cf_host_block *block, const uint64_t *word, uint64_t phase, const cf_host_where *where);

/* Makes the threads ready that wait for the barrier at `word`, which has entered its next phase. */
void cf__barrier_wake(cf_host_block *block, const uint64_t *word);

/* Makes the threads ready whose barriers entered their next phases because of other CPU threads. */
void cf__barriers_poll(struct cf__runner *runner);

/* Waits until a thread of the runner is ready; no thread is ready at the call. On a deadlock, fails the launch and does
 * not return. */
void cf__barriers_wait_ready(struct cf__runner *runner);

#endif
