/* schedule.c - divides a launch's blocks among CPU threads, and shuffles the order of blocks. */
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "cpu/schedule.h"

#include "base/clock.h"
#include "threads/pool.h"
#include "cpu/team.h"

/* Launches of fewer CUDA threads begin on the launching thread, and workers join if the launch takes long. Measured on
 * two cores: waking a worker took 6 to 8 us, and a gather of this size took 11 us on one thread. */
#define SMALL_LAUNCH 16384

/* Launches expected to take less than this are timed only once in TIMED_EVERY, to notice when a kernel's work changes.
 * The number is prime, so that in a loop of several kernels each one is timed eventually. */
#define SHORT_NS 4000.0
#define TIMED_EVERY 17

/* Number of CUDA threads in the first piece of a kernel of unknown speed. The time of the piece determines the size of
 * the next. */
#define FIRST_THREADS 256

/* Time that the rest of a launch has to take before it pays to let a worker join. */
#define WORTH_SHARING_NS 5000.0 /* if a worker is spinning and need not be woken */
#define WORTH_KEEPING_NS 8000.0 /* if a worker has to be woken, and will still be spinning at the next launch */
#define WORTH_WAKING_NS 20000.0 /* if a worker has to be woken, and will have gone to sleep at the next launch */

/* Work in ns that one worker should get: if it is spinning, and if it has to be woken. */
#define SPINNING_NS 1000.0
#define WAKING_NS 10000.0

/* Launches of fewer threads use only as many workers as pay, judged by the kernel's earlier time. If none pays, a probe
 * of PROBE_THREADS threads first verifies that time. */
#define LARGE_LAUNCH 1048576
#define PROBE_THREADS 2048

static int64_t last_end; /* time when the latest launch ended, in ns; atomic */

struct scheduled_launch {
    cf_host_body *body;
    const cf_host_launch *launch;
};

static void run_blocks(void *data, uint64_t begin, uint64_t end)
{
    const struct scheduled_launch *launch = data;
    if (!cf__cpu_has_failed(launch->launch))
        launch->body(launch->launch, begin, end);
}

/* Entry of a kernel that has run once without being timed. */
#define UNTIMED FLT_MIN

/* Time per CUDA thread of each kernel: a tag from the body's address, and ns as a float. Kernels that collide replace
 * each other's entries, which costs little. */
static uint64_t times[256]; /* atomic */

static uint64_t *find_time(cf_host_body *body, uint32_t *tag)
{
    uint64_t hash = (uint64_t)(uintptr_t)body * 0x9e3779b97f4a7c15u;
    *tag = (uint32_t)(hash >> 24);
    return &times[hash >> 56];
}

/* Returns a kernel's time per CUDA thread in ns, or 0 if it is unknown. */
static double load_time(cf_host_body *body)
{
    uint32_t tag, bits;
    uint64_t entry = __atomic_load_n(find_time(body, &tag), __ATOMIC_RELAXED);
    float ns;
    bits = (uint32_t)entry;
    memcpy(&ns, &bits, sizeof ns);
    return entry >> 32 == tag ? (double)ns : 0;
}

static void store_time(cf_host_body *body, double of_thread)
{
    uint32_t tag, bits;
    uint64_t *entry = find_time(body, &tag);
    float ns = (float)of_thread;
    memcpy(&bits, &ns, sizeof bits);
    __atomic_store_n(entry, (uint64_t)tag << 32 | bits, __ATOMIC_RELAXED);
}

static int has_few_threads(uint64_t blocks, uint64_t block_threads)
{
    return blocks <= 1 || blocks < SMALL_LAUNCH / block_threads;
}

int cf__schedule_is_alone(cf_host_body *body, uint64_t blocks, uint64_t block_threads)
{
    return blocks <= 1 || cf__pool_size() == 1 ||
           (has_few_threads(blocks, block_threads) &&
            load_time(body) * (double)blocks * (double)block_threads < WORTH_WAKING_NS);
}

void cf__schedule_note(cf_host_body *body, uint64_t threads, int64_t ns)
{
    store_time(body, load_time(body) > 0 ? (double)ns / (double)threads : UNTIMED);
}

/* Chooses how many blocks a thread takes together: a cluster, or a short row of the grid if there are enough rows,
 * because the loops of kernel bodies are longer along a row. */
static uint64_t choose_unit(const cf_host_launch *launch, uint64_t blocks, uint64_t block_threads)
{
    const cf_dim3 cluster = launch->cluster;
    uint64_t row = launch->grid.x, unit = (uint64_t)cluster.x * cluster.y * cluster.z;
    if (unit == 1 && row * block_threads <= 2 * SMALL_LAUNCH && blocks / row >= 16 * (uint64_t)cf__pool_size())
        unit = row;
    while (blocks / unit >= UINT32_MAX)
        unit *= 2;
    return unit;
}

static uint64_t at_least_one(uint64_t count)
{
    return count ? count : 1;
}

/* Returns the time in ns that a launch beginning now has to take before it pays to let a worker join. */
static double sharing_threshold(int64_t time)
{
    enum cf__pool_idle idle = cf__pool_idle_state();
    if (idle == CF__POOL_SPINS)
        return WORTH_SHARING_NS;
    int is_soon = time - __atomic_load_n(&last_end, __ATOMIC_RELAXED) < CF__POOL_WAIT_NS / 2;
    return is_soon && idle == CF__POOL_MAY_SPIN ? WORTH_KEEPING_NS : WORTH_WAKING_NS;
}

/* Runs units on the calling thread, `next` of them first, until none is left or the rest takes so long that workers
 * pay. The first units of a kernel of unknown speed are slower than the others, so more are timed before that decision.
 * Returns the number of units that have run. */
static uint64_t run_alone(struct cf__pool_job *job, struct cf__pool_pace *pace, uint64_t next, double threshold)
{
    const double least = job->unit_ns > 0 ? 0 : WORTH_WAKING_NS;
    uint64_t begun = 0;
    while (begun < job->units) {
        const uint64_t left = job->units - begun;
        next = next < left ? next : left;
        cf__pool_run_timed(job, pace, begun, next);
        begun += next;
        job->unit_ns = pace->unit_ns;
        const uint64_t rest = job->units - begun;
        const double rest_ns = job->unit_ns * (double)rest;
        if (rest_ns >= threshold && (double)(pace->since - pace->begin) >= least)
            break;
        /* Later blocks may take longer, so time them as well. */
        const uint64_t most = at_least_one((uint64_t)(WORTH_WAKING_NS / job->unit_ns));
        next = rest_ns < SHORT_NS ? rest : at_least_one(rest / 2 < most ? rest / 2 : most);
    }
    return begun;
}

static void run_launch(struct scheduled_launch *launch, uint64_t blocks, uint64_t block_threads)
{
    const uint64_t unit = choose_unit(launch->launch, blocks, block_threads), threads = unit * block_threads;
    struct cf__pool_job job = {.body = run_blocks,
                               .data = launch,
                               .count = blocks,
                               .unit = unit,
                               .units = blocks / unit + (blocks % unit != 0),
                               .unit_ns = load_time(launch->body) * (double)threads};
    uint64_t share = job.units / 16 / (uint64_t)cf__pool_size(), begun = 0, awake = UINT64_MAX, woken = UINT64_MAX;
    job.most = at_least_one(share > SMALL_LAUNCH / threads ? share : SMALL_LAUNCH / threads);
    job.first = job.unit_ns > 0 ? job.most : at_least_one(FIRST_THREADS / threads);

    struct cf__pool_pace pace = cf__pool_pace_begin(&job);
    const double threshold = sharing_threshold(pace.begin);
    const int is_known = job.unit_ns > 0 && blocks < LARGE_LAUNCH / block_threads;
    const int is_short = is_known && job.unit_ns * (double)job.units < threshold;
    if (is_short || (!is_known && has_few_threads(blocks, block_threads)))
        begun = run_alone(&job, &pace, is_known ? at_least_one(PROBE_THREADS / threads) : 1, threshold);
    int64_t end = pace.since;
    if (begun < job.units) {
        if (begun) {
            store_time(launch->body, job.unit_ns / (double)threads);
            job.first = job.most;
        }
        if (is_known || begun) {
            const double rest_ns = job.unit_ns * (double)(job.units - begun);
            awake = at_least_one((uint64_t)(rest_ns / SPINNING_NS));
            woken = (uint64_t)(rest_ns / WAKING_NS);
        }
        pace = cf__pool_share(&job, begun, awake, woken);
        end = cf__now();
    }
    if (pace.units)
        store_time(launch->body, (double)(pace.since - pace.begin) / (double)pace.units / (double)threads);
    __atomic_store_n(&last_end, end, __ATOMIC_RELAXED);
}

/* Returns 1 if a launch is so short that reading the clock twice would slow it down noticeably. */
static int is_untimed(cf_host_body *body, uint64_t blocks, uint64_t block_threads)
{
    static _Thread_local uint32_t launches;
    const double ns = load_time(body) * (double)blocks * (double)block_threads;
    if (!(ns > 0 && ns < SHORT_NS) || !has_few_threads(blocks, block_threads))
        return 0;
    return ++launches % TIMED_EVERY != 0;
}

void cf__schedule_run(cf_host_body *body, const cf_host_launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t block_threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    if (blocks <= 1 || cf__pool_size() == 1 || is_untimed(body, blocks, block_threads)) {
        body(launch, 0, blocks);
        return;
    }
    struct scheduled_launch data = {body, launch};
    run_launch(&data, blocks, block_threads);
}

/* ---- Order ---- */

/* Maps numbers of `bits` bits to one another; each step is a bijection. */
static uint64_t mix_bits(uint64_t x, uint64_t key, int bits)
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

uint64_t cf__schedule_shuffle(uint64_t i, uint64_t count, uint64_t key)
{
    int bits = 1;
    while (bits < 64 && count > (uint64_t)1 << bits)
        bits++;
    /* mix_bits() may give a number outside the range, which is then mixed again: the cycle of the bijection leads back
     * into the range. */
    do
        i = mix_bits(i, key, bits);
    while (i >= count);
    return i;
}
