/* bench_copy.h - how fast a device copies its own memory: the limit that kernels are compared with. */
#ifndef BENCH_COPY_H
#define BENCH_COPY_H

#include "bench/bench_result.h"
#include "base/message.h"

/* Times copies on the thread's device, between two arrays that are well past its cache: on a GPU the driver's own, on the
 * CPU memcpy() by all threads that run kernels. Takes about `budget` seconds. */
int bench_copy_measure(const struct bench_machine *machine, size_t available, double budget, struct bench_copy *copy,
                       struct message *message);

#endif
