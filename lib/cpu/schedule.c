/* schedule.c - which CPU threads run which blocks of a launch, and in which order. */
#include <stdint.h>
#include <string.h>

#include "cpu/schedule.h"

#include "threads/pool.h"
#include "cpu/team.h"

/* Launches of fewer CUDA threads than this run on the launching thread. Measured on two cores: waking the worker cost 6
 * to 8 us, and a gather of this many took one thread 11 us. */
#define SMALL_LAUNCH 16384

/* How many CUDA threads run at first where nothing is known of a kernel: their time tells how many run next, which are at
 * most so many times as many. */
#define FIRST_THREADS 256
/* The rest of a launch is worth sharing where it takes so long: with a worker that looks for work; with one that has to be
 * woken, and will still look when the next launch comes; and with one that will not. */
#define WORTH_SHARING_NS 2000.0
#define WORTH_KEEPING_NS 4000.0
#define WORTH_WAKING_NS 20000.0

/* A worker to so much work is woken. */
#define WORK_NS 10000.0

/* Launches of fewer threads take only as many workers as pay, by what their kernel took before; where that is none, so many
 * threads run before the others, to see whether it is so. */
#define LARGE_LAUNCH 1048576
#define PROBE_THREADS 2048

static int64_t last_end; /* when a launch ended; atomic */

struct launch {
    cf_host_body *body;
    const cf_host_launch *launch;
};

static void run_blocks(void *data, uint64_t begin, uint64_t end)
{
    const struct launch *launch = data;
    if (!cf__cpu_has_failed(launch->launch))
        launch->body(launch->launch, begin, end);
}

int cf__schedule_is_small(uint64_t blocks, uint64_t block_threads)
{
    return blocks <= 1 || blocks < SMALL_LAUNCH / block_threads;
}

/* How long a thread of each kernel takes, as far as is known: a part of the body's address, and a float. Which of two
 * kernels has a place does not matter much. */
static uint64_t times[256]; /* atomic */

static uint64_t *time_of(cf_host_body *body, uint32_t *tag)
{
    uint64_t hash = (uint64_t)(uintptr_t)body * 0x9e3779b97f4a7c15u;
    *tag = (uint32_t)(hash >> 24);
    return &times[hash >> 56];
}

/* 0: not known. */
static double recall(cf_host_body *body)
{
    uint32_t tag, bits;
    uint64_t entry = __atomic_load_n(time_of(body, &tag), __ATOMIC_RELAXED);
    float ns;
    bits = (uint32_t)entry;
    memcpy(&ns, &bits, sizeof ns);
    return entry >> 32 == tag ? (double)ns : 0;
}

static void remember(cf_host_body *body, const struct cf__pool_pace *pace, uint64_t unit_threads)
{
    uint32_t tag, bits;
    uint64_t *entry = time_of(body, &tag);
    if (!pace->units)
        return;
    float ns = (float)((double)(pace->since - pace->begin) / (double)pace->units / (double)unit_threads);
    memcpy(&bits, &ns, sizeof bits);
    __atomic_store_n(entry, (uint64_t)tag << 32 | bits, __ATOMIC_RELAXED);
}

/* Short rows of blocks stay together where there are enough of them: bodies run those in longer loops. */
static uint64_t unit_of(const cf_host_launch *launch, uint64_t blocks, uint64_t block_threads)
{
    uint64_t row = launch->grid.x, unit = 1;
    if (row * block_threads <= 2 * SMALL_LAUNCH && blocks / row >= 16 * (uint64_t)cf__pool_size())
        unit = row;
    while (blocks / unit >= UINT32_MAX)
        unit *= 2;
    return unit;
}

static uint64_t at_least_one(uint64_t count)
{
    return count ? count : 1;
}

/* From when on it is worth it to share a launch that begins now. */
static double worth_ns(int64_t time)
{
    enum cf__pool_idle idle = cf__pool_idle_state();
    if (idle == CF__POOL_LOOKS)
        return WORTH_SHARING_NS;
    int is_soon = time - __atomic_load_n(&last_end, __ATOMIC_RELAXED) < CF__POOL_SPIN_NS / 2;
    return is_soon && idle == CF__POOL_MAY_LOOK ? WORTH_KEEPING_NS : WORTH_WAKING_NS;
}

/* Runs a launch, whose blocks have so many threads. */
static void run_launch(struct launch *launch, uint64_t blocks, uint64_t block_threads)
{
    const uint64_t unit = unit_of(launch->launch, blocks, block_threads), threads = unit * block_threads;
    struct cf__pool_job job = {.body = run_blocks,
                               .data = launch,
                               .count = blocks,
                               .unit = unit,
                               .units = blocks / unit + (blocks % unit != 0),
                               .unit_ns = recall(launch->body) * (double)threads};
    uint64_t share = job.units / 16 / (uint64_t)cf__pool_size(), begun = 0, wanted = UINT64_MAX;
    job.most = at_least_one(share > SMALL_LAUNCH / threads ? share : SMALL_LAUNCH / threads);
    job.first = job.unit_ns > 0 ? job.most : at_least_one(FIRST_THREADS / threads);

    struct cf__pool_pace pace = cf__pool_pace_begin(&job);
    const double worth = worth_ns(pace.begin);
    const int is_known = job.unit_ns > 0 && blocks < LARGE_LAUNCH / block_threads;
    if (is_known && job.unit_ns * (double)job.units < worth) {
        begun = at_least_one(PROBE_THREADS / threads);
        cf__pool_run_timed(&job, &pace, 0, begun);
        job.unit_ns = pace.unit_ns;
    }
    const double rest_ns = job.unit_ns * (double)(job.units - begun);
    if (begun && rest_ns < worth) {
        cf__pool_run_timed(&job, &pace, begun, job.units - begun);
    } else {
        if (is_known)
            wanted = at_least_one((uint64_t)(rest_ns / WORK_NS));
        pace = cf__pool_share(&job, begun, wanted);
    }
    remember(launch->body, &pace, threads);
    __atomic_store_n(&last_end, cf__pool_now(), __ATOMIC_RELAXED);
}

void cf__schedule_run(cf_host_body *body, const cf_host_launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t block_threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    if (cf__schedule_is_small(blocks, block_threads) || cf__pool_size() == 1) {
        body(launch, 0, blocks);
        return;
    }
    struct launch data = {body, launch};
    run_launch(&data, blocks, block_threads);
}

/* ---- Order ---- */

/* Each step is one to one on numbers of `bits` bits. */
static uint64_t mix(uint64_t x, uint64_t key, int bits)
{
    uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    for (int round = 0; round < 4; round++) {
        key = key * 6364136223846793005u + 1442695040888963407u;
        x = (x + (key >> 20)) & mask;
        x = x * 0x9e3779b97f4a7c15u & mask;
        x ^= x >> (bits + 1) / 2;
    }
    return x;
}

uint64_t cf__shuffled(uint64_t i, uint64_t count, uint64_t key)
{
    int bits = 1;
    while (bits < 64 && count > (uint64_t)1 << bits)
        bits++;
    /* What lies outside leads on, and back inside at last. */
    do
        i = mix(i, key, bits);
    while (i >= count);
    return i;
}
