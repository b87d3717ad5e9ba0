/* watch.h - launches of a checked kernel: which thread of which block runs. */
#ifndef WATCH_H
#define WATCH_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Looks at a part of a launch of `of` by its own CPU body. */
void watch_launch(const cf_kernel *of, cf_host_body *host, const cf_host_launch *what, uint64_t begin, uint64_t end);

/* Bytes of each array of the kernel, or operation, that is watched. */
extern const size_t *watch_bytes;

/* How often it has begun to run since it is watched; and whether this run is looked at: the timed ones are the same as
 * the first. */
extern int watch_runs;
int watch_is_looking(void);

#endif
