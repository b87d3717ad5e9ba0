/* barrier.h - barriers in a kernel's memory. */
#ifndef CF__BARRIER_H
#define CF__BARRIER_H

#include <cuferry/registry.h>

#include <stdint.h>

struct cf__runner;

void cf__barrier_wait(cf_host_block *block, const uint64_t *word, uint64_t phase, const cf_host_where *where);
void cf__barrier_wake(cf_host_block *block, const uint64_t *word);

/* Looks whether other threads of the CPU have brought barriers into their next phases, for which threads here wait. */
void cf__barriers_look(struct cf__runner *runner);

/* The same, again and again: no thread here may go on. Ends the launch where none will. */
void cf__barriers_rest(struct cf__runner *runner);

/* Every thread that has not ended waits for another: says how many wait where, and one of each. */
void cf__fail_at_deadlock(struct cf__runner *runner) __attribute__((noreturn));

#endif
