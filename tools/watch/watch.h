/* watch.h - launches of a checked kernel: which thread of which block runs. */
#ifndef WATCH_H
#define WATCH_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Checks a part of a launch of `of` with its own CPU body. */
void watch_launch(const cf_kernel *of, cf_host_body *host, const cf_host_launch *what, uint64_t begin, uint64_t end);

/* Size in bytes of each array of the watched kernel or operation. */
extern const size_t *watch_bytes;

/* Number of runs since the watch began; and 1 if the current run is checked: timed runs repeat the first. */
extern int watch_runs;
int watch_is_looking(void);

#endif
