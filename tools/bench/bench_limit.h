/* bench_limit.h - measures the highest speed at which a device accesses memory, which is the limit for kernels. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include "bench/bench_result.h"
#include "base/message.h"

/* Returns "copy", "update" or "read". */
const char *bench_limit_name(enum bench_access access);

/* Times accesses to two arrays that are much larger than the cache of the thread's device. On a GPU, the driver copies.
 * On the CPU, all kernel threads copy by memcpy(), update in place, and read; the fastest of the three is the limit.
 * Each takes about `budget` seconds. */
int bench_limit_measure(const struct bench_machine *machine, size_t available, double budget, struct bench_limit *limit,
                        struct message *message);

#endif
