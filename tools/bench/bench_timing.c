/* bench_timing.c - samples the time of a piece of work, by a GPU's events or the CPU's clock. */
#include "bench/bench_timing.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "base/runtime.h"

/* Resolution of a GPU's events: CUDA's documentation says "around 0.5 microseconds". */
#define EVENT_RESOLUTION 0.5e-6

/* Most pieces enqueued before the GPU may begin; a stream can hold about a thousand. */
#define MOST_ENQUEUED 256
#define MOST_BATCH ((size_t)1 << 20) /* most pieces per batch on the CPU, where they are not enqueued */

/* Numbers of samples: the minimum, the minimum for a median to be known precisely, the maximum. */
#define FEWEST_SAMPLES 5
#define SURE_SAMPLES 20
#define MOST_SAMPLES 2000
#define SURE 0.005  /* relative error of the median at which sampling ends */
#define SURE_PART 5 /* sampling takes at least budget / SURE_PART, since samples close in time are alike */

/* Seconds of work after which a GPU has raised its clock. */
#define WARM_UP 0.02

struct timing {
    const struct bench_work *work;
    int on_cuda;
    double resolution;
    cf_stream stream;
    cf_event events[2 * MOST_ENQUEUED];
    size_t event_count;
    size_t piece; /* next piece */
    size_t batch;
    double *samples; /* seconds per batch */
    size_t count;
};

double bench_timing_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns the smallest difference between two different readings of the CPU's clock. */
static double clock_resolution(void)
{
    double least = 1e-3;
    for (int i = 0; i < 1000; i++) {
        double first = bench_timing_now(), next = first;
        while (next == first)
            next = bench_timing_now();
        least = next - first < least ? next - first : least;
    }
    return least;
}

/* ---- The gate of a stream ---- */

/* Events would include time in which a GPU waits for the CPU to enqueue the next short kernel. The stream therefore
 * first waits for a host function that returns when everything is enqueued. */
struct gate {
    pthread_t owner;
    sem_t open;
};

static void wait_for_gate(void *data)
{
    struct gate *gate = data;
    struct timespec latest;
    if (pthread_equal(pthread_self(), gate->owner)) /* the driver calls this on the opening thread */
        return;
    clock_gettime(CLOCK_REALTIME, &latest);
    latest.tv_sec += 2; /* enqueuing may be waiting for this function, so that it must end */
    while (sem_timedwait(&gate->open, &latest) != 0 && errno == EINTR)
        continue;
}

/* ---- Samples ---- */

/* Enqueues one batch, and restores changed data before pieces repeat. */
static int enqueue_batch(struct timing *timing, struct message *message)
{
    const struct bench_work *work = timing->work;
    for (size_t i = 0; i < timing->batch; i++) {
        if (timing->piece == work->pieces)
            timing->piece = 0;
        if (work->enqueue(work->data, timing->stream, timing->piece++, message) != 0)
            return -1;
    }
    return 0;
}

static int restore(struct timing *timing, struct message *message)
{
    const struct bench_work *work = timing->work;
    if (!work->restore || timing->piece + timing->batch <= work->pieces)
        return 0;
    timing->piece = 0;
    return work->restore(work->data, timing->stream, message);
}

/* Returns the number of GPU samples that are enqueued together, limited by the stream and by the remaining pieces. */
static size_t samples_at_once(const struct timing *timing)
{
    const struct bench_work *work = timing->work;
    size_t count = MOST_ENQUEUED / timing->batch, room = MOST_SAMPLES - timing->count;
    if (work->restore && (work->pieces - timing->piece) / timing->batch < count)
        count = (work->pieces - timing->piece) / timing->batch;
    return count < room ? count : room;
}

static int enqueue_samples(struct timing *timing, size_t count, struct message *message)
{
    for (size_t i = 0; i < count; i++)
        if (cf_event_record(timing->events[2 * i], timing->stream) != CF_OK)
            return runtime_failure(message);
        else if (enqueue_batch(timing, message) != 0)
            return -1;
        else if (cf_event_record(timing->events[2 * i + 1], timing->stream) != CF_OK)
            return runtime_failure(message);
    return 0;
}

/* `limit`: largest number of samples. */
static int sample_cuda(struct timing *timing, size_t limit, struct message *message)
{
    struct gate gate = {.owner = pthread_self()};
    if (restore(timing, message) != 0)
        return -1;
    size_t count = samples_at_once(timing);
    count = count < limit ? count : limit;
    if (sem_init(&gate.open, 0, 0) != 0)
        return message_set(message, "no semaphore");
    int status = cf_stream_call(timing->stream, wait_for_gate, &gate) == CF_OK ? 0 : runtime_failure(message);
    if (status == 0)
        status = enqueue_samples(timing, count, message);
    (void)sem_post(&gate.open);
    if (cf_stream_sync(timing->stream) != CF_OK && status == 0)
        status = runtime_failure(message);
    (void)sem_destroy(&gate.open);
    for (size_t i = 0; status == 0 && i < count; i++) {
        float milliseconds;
        if (cf_event_elapsed(&milliseconds, timing->events[2 * i], timing->events[2 * i + 1]) != CF_OK)
            return runtime_failure(message);
        timing->samples[timing->count++] = (double)milliseconds * 1e-3;
    }
    return status;
}

static int sample_cpu(struct timing *timing, struct message *message)
{
    if (restore(timing, message) != 0)
        return -1;
    double begin = bench_timing_now();
    if (enqueue_batch(timing, message) != 0)
        return -1;
    timing->samples[timing->count++] = bench_timing_now() - begin;
    return 0;
}

/* Takes a sample, or several on a GPU. */
static int sample(struct timing *timing, size_t limit, struct message *message)
{
    return timing->on_cuda ? sample_cuda(timing, limit, message) : sample_cpu(timing, message);
}

/* ---- Batches ---- */

/* Returns the number of pieces for a batch of `wanted` seconds if the present batch takes `seconds`. */
static size_t larger_batch(const struct timing *timing, double seconds, double wanted)
{
    double factor = seconds > 0 ? 1.2 * wanted / seconds : 16;
    size_t batch = (size_t)ceil((double)timing->batch * (factor < 2 ? 2 : factor > 16 ? 16 : factor));
    size_t most = timing->on_cuda ? MOST_ENQUEUED : MOST_BATCH;
    if (timing->work->restore && timing->work->pieces < most)
        most = timing->work->pieces;
    return batch < most ? batch : most;
}

/* Finds the number of pieces per batch that takes long enough for the clock, and warms up the device. */
static int find_batch(struct timing *timing, struct message *message)
{
    double wanted = BENCH_RESOLUTIONS * timing->resolution, end = bench_timing_now() + (timing->on_cuda ? WARM_UP : 0);
    for (timing->batch = 1;;) {
        timing->count = 0;
        if (sample(timing, 1, message) != 0)
            return -1;
        double seconds = timing->samples[0];
        if (seconds >= wanted && bench_timing_now() >= end)
            return 0;
        if (seconds >= wanted)
            continue;
        size_t batch = larger_batch(timing, seconds, wanted);
        if (batch == timing->batch)
            return message_set(message, "%zu launches take %.3g us, of which the clock tells no more than %.3g apart",
                               batch, seconds * 1e6, timing->resolution * 1e6);
        timing->batch = batch;
    }
}

/* ---- One timing ---- */

static int is_sure(const struct timing *timing, double since, double *scratch)
{
    if (timing->count < SURE_SAMPLES || bench_timing_now() < since)
        return 0;
    for (size_t i = 0; i < timing->count; i++)
        scratch[i] = timing->samples[i];
    struct bench_statistics statistics = bench_statistics_of(scratch, timing->count);
    return bench_statistics_error(&statistics) < SURE;
}

/* Returns 1 if the batch is too small, which happens when the first samples were slower than later ones. */
static int is_too_short(struct timing *timing, double *scratch)
{
    for (size_t i = 0; i < timing->count; i++)
        scratch[i] = timing->samples[i];
    double wanted = BENCH_RESOLUTIONS * timing->resolution;
    double median = bench_statistics_of(scratch, timing->count).median;
    size_t batch = median < wanted ? larger_batch(timing, median, wanted) : timing->batch;
    if (batch == timing->batch)
        return 0;
    timing->batch = batch;
    return 1;
}

static int take(struct timing *timing, double budget, double *scratch, struct message *message)
{
    if (find_batch(timing, message) != 0)
        return -1;
    do {
        timing->count = 0;
        double begin = bench_timing_now(), end = begin + budget;
        while (timing->count < MOST_SAMPLES && (timing->count < FEWEST_SAMPLES || bench_timing_now() < end) &&
               !is_sure(timing, begin + budget / SURE_PART, scratch))
            if (sample(timing, SURE_SAMPLES, message) != 0)
                return -1;
    } while (is_too_short(timing, scratch));
    return 0;
}

static int prepare(struct timing *timing, struct message *message)
{
    if (cf_stream_create(&timing->stream) != CF_OK)
        return runtime_failure(message);
    timing->resolution = timing->on_cuda ? EVENT_RESOLUTION : clock_resolution();
    for (; timing->on_cuda && timing->event_count < 2 * MOST_ENQUEUED; timing->event_count++)
        if (cf_event_create(&timing->events[timing->event_count]) != CF_OK)
            return runtime_failure(message);
    return 0;
}

/* Frees events after a failure that has been reported. */
static void discard(struct timing *timing)
{
    int lost = 0;
    for (size_t e = 0; e < timing->event_count; e++)
        lost += cf_event_destroy(timing->events[e]) != CF_OK;
    lost += cf_stream_destroy(timing->stream) != CF_OK;
    (void)lost;
}

int bench_timing_take(const struct bench_work *work, int on_cuda, double budget, struct bench_times *times,
                      struct message *message)
{
    double *samples = calloc(2 * MOST_SAMPLES, sizeof *samples);
    if (!samples)
        return message_set(message, "out of memory");
    struct timing timing = {.work = work, .on_cuda = on_cuda, .samples = samples};
    int status = prepare(&timing, message);
    if (status == 0)
        status = take(&timing, budget, samples + MOST_SAMPLES, message);
    for (size_t i = 0; i < timing.count; i++)
        samples[i] /= (double)timing.batch;
    if (status == 0)
        *times = (struct bench_times){bench_statistics_of(samples, timing.count), timing.batch};
    discard(&timing);
    free(samples);
    return status;
}
