/* runner_cache.h - keeps idle runners with their memory for later launches. */
#ifndef CF__RUNNER_CACHE_H
#define CF__RUNNER_CACHE_H

#include <stdint.h>

struct cf__runner;

/* Returns an idle runner, or a new one that is all zero; NULL if there is no memory. Thread-safe. */
struct cf__runner *cf__runner_take(void);

/* Makes room for `blocks` resident blocks. Returns 0 if there is no memory; the caller can then only free the
 * runner. */
int cf__runner_reserve(struct cf__runner *runner, uint64_t blocks);

/* Keeps a runner for later launches, or frees it. Thread-safe. */
void cf__runner_give(struct cf__runner *runner);
void cf__runner_free(struct cf__runner *runner);

/* Frees the idle runners with their memory. No launch may run. */
void cf__runners_free(void);

#endif
