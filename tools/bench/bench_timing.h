/* bench_timing.h - takes samples of how long a piece of work takes, by a GPU's events or the CPU's clock. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stddef.h>

#include <cuferry.h>

#include "bench/bench_statistics.h"
#include "base/message.h"

/* A sample is at least so many times as long as what the clock can tell apart. */
#define BENCH_RESOLUTIONS 20

/* Work that is done again and again. */
struct bench_work {
    /* Enqueues piece number `piece` on `stream`; on the CPU it is done then. */
    int (*enqueue)(void *data, cf_stream stream, size_t piece, struct message *message);
    /* Makes good what the pieces have changed; NULL where nothing has to be. Pieces are numbered anew from 0 then. */
    int (*restore)(void *data, cf_stream stream, struct message *message);
    size_t pieces; /* that there are; after the last one follows the first */
    void *data;
};

struct bench_times {
    struct bench_statistics seconds; /* of one piece */
    size_t batch;                    /* pieces of a sample */
};

/* Times the work on the thread's device, for about `budget` seconds: less where the median is known to half a percent
 * before, and longer where that would be less than five samples. `on_cuda`: by the GPU's events, of which each pair is
 * around a batch that was enqueued before the GPU begins it. */
int bench_timing_take(const struct bench_work *work, int on_cuda, double budget, struct bench_times *times,
                      struct message *message);

/* Seconds of the CPU's clock, from any beginning. */
double bench_timing_now(void);

#endif
