/* bench_limit.c - measures the highest speed at which a device accesses memory, which is the limit for kernels. */
#include "bench/bench_limit.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "bench/bench_timing.h"
#include "base/runtime.h"

/* Size of each of the two arrays, as a multiple of the cache's size, and bounds of it. */
#define CACHES 16
#define LEAST_BYTES ((size_t)4 << 20)
#define MOST_BYTES ((size_t)1 << 30)

/* Each thread's part begins at a page. */
#define PAGE ((size_t)4096)

const char *bench_limit_name(enum bench_access access)
{
    static const char *const names[BENCH_ACCESSES] = {"copy", "update", "read"};
    return names[access];
}

static size_t choose_bytes(const struct bench_machine *machine, size_t available)
{
    size_t cache = (size_t)machine->cache, bytes = cache > MOST_BYTES / CACHES ? MOST_BYTES : CACHES * cache;
    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
    while (bytes > PAGE && bytes > available / 3)
        bytes /= 2;
    return bytes / PAGE * PAGE;
}

/* ---- On a GPU ---- */

struct arrays {
    void *target, *source;
    size_t bytes;
};

static int copy_device(void *data, cf_stream stream, size_t piece, struct message *message)
{
    const struct arrays *arrays = data;
    (void)piece;
    return cf_mem_copy_async(stream, arrays->target, arrays->source, arrays->bytes) == CF_OK ? 0
                                                                                             : runtime_failure(message);
}

/* ---- On the CPU ---- */

/* Vector of doubles, which the compiler handles in as few instructions as the processor allows. */
typedef double pack __attribute__((vector_size(64)));

/* Team of threads that access parts of the arrays at the same time. */
struct team {
    struct arrays arrays;
    enum bench_access access;
    size_t count;
    pthread_barrier_t begin, end;
    int is_over;
    struct member {
        struct team *team;
        size_t number;
        pthread_t thread;
    } * members;
};

static size_t part_begin(const struct team *team, size_t number)
{
    size_t pages = team->arrays.bytes / PAGE;
    return (pages * number / team->count) * PAGE;
}

static void update(pack *y, const pack *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] += 0.5 * x[i];
}

/* The sum is stored to a volatile variable, so that the compiler cannot remove the reads. */
static void read_both(const pack *x, const pack *y, size_t count, volatile double *sum)
{
    pack sums[4] = {{0}};
    for (size_t i = 0; i + 2 <= count; i += 2) {
        sums[0] += x[i];
        sums[1] += x[i + 1];
        sums[2] += y[i];
        sums[3] += y[i + 1];
    }
    sums[0] += sums[1] + sums[2] + sums[3];
    for (size_t k = 0; k < sizeof(pack) / sizeof(double); k++)
        *sum = sums[0][k];
}

static void access_part(const struct team *team, size_t number)
{
    const size_t begin = part_begin(team, number), bytes = part_begin(team, number + 1) - begin;
    char *target = (char *)team->arrays.target + begin;
    const char *source = (const char *)team->arrays.source + begin;
    volatile double sum;
    switch (team->access) {
    case BENCH_COPY:
        memcpy(target, source, bytes);
        return;
    case BENCH_UPDATE:
        update((pack *)(void *)target, (const pack *)(const void *)source, bytes / sizeof(pack));
        return;
    case BENCH_READ:
        read_both((const pack *)(const void *)source, (const pack *)(const void *)target, bytes / sizeof(pack), &sum);
    }
}

/* Each thread writes its part first, because the first write decides which NUMA node's memory a page uses. */
static void touch_part(const struct team *team, size_t number)
{
    size_t begin = part_begin(team, number), end = part_begin(team, number + 1);
    memset((char *)team->arrays.source + begin, 1, end - begin);
    memset((char *)team->arrays.target + begin, 2, end - begin);
}

static void *run_member(void *data)
{
    const struct member *member = data;
    struct team *team = member->team;
    touch_part(team, member->number);
    for (;;) {
        (void)pthread_barrier_wait(&team->begin);
        if (team->is_over)
            return NULL;
        access_part(team, member->number);
        (void)pthread_barrier_wait(&team->end);
    }
}

static int access_host(void *data, cf_stream stream, size_t piece, struct message *message)
{
    struct team *team = data;
    (void)stream, (void)piece, (void)message;
    (void)pthread_barrier_wait(&team->begin);
    access_part(team, 0);
    (void)pthread_barrier_wait(&team->end);
    return 0;
}

/* Starts the threads; the calling thread is the first member. Returns -1 if one cannot be started. */
static int team_begin(struct team *team)
{
    team->members = calloc(team->count, sizeof *team->members);
    if (!team->members)
        return -1;
    if (pthread_barrier_init(&team->begin, NULL, (unsigned)team->count) != 0)
        return -1;
    if (pthread_barrier_init(&team->end, NULL, (unsigned)team->count) != 0) {
        (void)pthread_barrier_destroy(&team->begin);
        return -1;
    }
    for (size_t i = 1; i < team->count; i++) {
        team->members[i] = (struct member){.team = team, .number = i};
        if (pthread_create(&team->members[i].thread, NULL, run_member, &team->members[i]) != 0)
            return -1; /* threads that were started wait until the process ends */
    }
    touch_part(team, 0);
    return 0;
}

static void team_end(struct team *team)
{
    team->is_over = 1;
    (void)pthread_barrier_wait(&team->begin);
    for (size_t i = 1; i < team->count; i++)
        (void)pthread_join(team->members[i].thread, NULL);
    (void)pthread_barrier_destroy(&team->begin);
    (void)pthread_barrier_destroy(&team->end);
    free(team->members);
}

static double bytes_of(const struct arrays *arrays, enum bench_access access)
{
    return (access == BENCH_UPDATE ? 3.0 : 2.0) * (double)arrays->bytes;
}

static int measure_cpu(const struct bench_machine *machine, const struct arrays *arrays, double budget,
                       struct bench_limit *limit, struct message *message)
{
    struct team team = {.arrays = *arrays, .count = machine->threads > 0 ? (size_t)machine->threads : 1};
    struct bench_times times;
    int status = 0;
    if (team_begin(&team) != 0)
        return message_set(message, "no %zu threads can be had to access memory", team.count);
    const struct bench_work work = {access_host, NULL, 1, &team};
    *limit = (struct bench_limit){.bytes = 0};
    for (int access = 0; status == 0 && access < BENCH_ACCESSES; access++) {
        team.access = (enum bench_access)access;
        status = bench_timing_take(&work, 0, budget, &times, message);
        const struct bench_limit found = {team.access, bytes_of(arrays, team.access), times.seconds};
        if (status == 0 &&
            bench_bandwidth(found.bytes, &found.seconds) > bench_bandwidth(limit->bytes, &limit->seconds))
            *limit = found;
    }
    team_end(&team);
    return status;
}

static int measure_cuda(const struct arrays *arrays, double budget, struct bench_limit *limit, struct message *message)
{
    const struct bench_work work = {copy_device, NULL, 1, (void *)(uintptr_t)arrays};
    struct bench_times times;
    if (cf_mem_fill(arrays->source, 1, arrays->bytes) != CF_OK ||
        cf_mem_fill(arrays->target, 2, arrays->bytes) != CF_OK ||
        cf_mem_copy(arrays->target, arrays->source, arrays->bytes) != CF_OK) /* loads the driver's copy code */
        return runtime_failure(message);
    if (bench_timing_take(&work, 1, budget, &times, message) != 0)
        return -1;
    *limit = (struct bench_limit){BENCH_COPY, 2.0 * (double)arrays->bytes, times.seconds};
    return 0;
}

/* ---- Both ---- */

int bench_limit_measure(const struct bench_machine *machine, size_t available, double budget, struct bench_limit *limit,
                        struct message *message)
{
    struct arrays arrays = {NULL, NULL, choose_bytes(machine, available)};
    int status = 0;
    if (cf_mem_alloc(&arrays.target, arrays.bytes) != CF_OK || cf_mem_alloc(&arrays.source, arrays.bytes) != CF_OK)
        status = runtime_failure(message);
    else if (machine->on_cuda)
        status = measure_cuda(&arrays, budget, limit, message);
    else
        status = measure_cpu(machine, &arrays, budget, limit, message);
    if ((cf_mem_free(arrays.target) != CF_OK || cf_mem_free(arrays.source) != CF_OK) && status == 0)
        status = runtime_failure(message);
    return status;
}
