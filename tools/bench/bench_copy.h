/* bench_copy.h - the speed at which a device copies its own memory: the limit for kernels. */
#ifndef BENCH_COPY_H
#define BENCH_COPY_H

#include "bench/bench_result.h"
#include "base/message.h"

/* Times copies on the thread's device between two arrays much larger than its cache: by the driver on a GPU, by
 * memcpy() in all kernel threads on the CPU. Takes about `budget` seconds. */
int bench_copy_measure(const struct bench_machine *machine, size_t available, double budget, struct bench_copy *copy,
                       struct message *message);

#endif
