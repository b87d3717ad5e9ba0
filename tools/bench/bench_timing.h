/* bench_timing.h - samples the time of a piece of work, by a GPU's events or the CPU's clock. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stddef.h>

#include <cuferry.h>

#include "bench/bench_statistics.h"
#include "base/message.h"

/* Time of the shortest sample, as a multiple of the clock's resolution. */
#define BENCH_RESOLUTIONS 20

/* Work that is repeated. */
struct bench_work {
    /* Enqueues piece number `piece` on `stream`; on the CPU, the piece is complete at return. */
    int (*enqueue)(void *data, cf_stream stream, size_t piece, struct message *message);
    /* Restores data that pieces have changed, after which their numbers restart at 0; NULL: pieces change no data. */
    int (*restore)(void *data, cf_stream stream, struct message *message);
    size_t pieces; /* number of pieces; the first follows the last */
    void *data;
};

struct bench_times {
    struct bench_statistics seconds; /* per piece */
    size_t batch;                    /* pieces per sample */
};

/* Times the work on the thread's device for about `budget` seconds. Ends earlier when the median is known to half a
 * percent, and later if five samples take longer. `on_cuda`: measures by events of the GPU around each batch, which is
 * enqueued completely before the GPU begins it. */
int bench_timing_take(const struct bench_work *work, int on_cuda, double budget, struct bench_times *times,
                      struct message *message);

/* Seconds of the CPU's clock, from an arbitrary origin. */
double bench_timing_now(void);

#endif
