/* watch.h - follows launches of a checked kernel: which thread of which block runs. */
#ifndef WATCH_H
#define WATCH_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Runs and checks a part of a launch of kernel `of`; `host` is the kernel's own CPU body. */
void watch_launch(const cf_kernel *of, cf_host_body *host, const cf_host_launch *what, uint64_t begin, uint64_t end);

/* Sizes in bytes of the arrays of the watched kernel or operation, one per parameter. */
extern const size_t *watch_bytes;

/* Number of runs since the watch began. The function returns 1 if the current run is checked, as only the first is,
 * since timed runs repeat it. */
extern int watch_runs;
int watch_is_looking(void);

#endif
