/* bench_limit.h - the highest speed at which a device and its threads access memory: the limit for kernels. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include "bench/bench_result.h"
#include "base/message.h"

/* "copy", "update" or "read". */
const char *bench_limit_name(enum bench_access access);

/* Times accesses to two arrays much larger than the cache of the thread's device: copies by the driver on a GPU; on the
 * CPU, in all kernel threads, copies by memcpy(), updates in place and reads, of which the fastest is the limit. Takes
 * about `budget` seconds for each. */
int bench_limit_measure(const struct bench_machine *machine, size_t available, double budget, struct bench_limit *limit,
                        struct message *message);

#endif
