/* pool.c - the worker threads that run kernels on the CPU, search arrays and fill the buffers of copies.
 *
 * A job is a number of pieces. Each thread has a range of them that lie side by side, the same from job to job, so that
 * it comes to the memory that it had before; who is through with its own takes from the ends of others. The thread that
 * has the job always takes part, so that a job ends even where no worker could be started. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "block.h"
#include "fiber.h"
#include "internal.h"

/* Launches of fewer CUDA threads than this run on the launching thread. Measured on two cores: waking the worker cost 6
 * to 8 us, and a gather of this many took one thread 11 us. */
#define SMALL_LAUNCH 16384

#define MAX_THREADS 1024

/* How long a thread looks for work, or for the end of it, before it sleeps: jobs follow one another within a call, and
 * to wake a thread takes 10 us and more. */
#define SPIN_NS 50000

/* What runs at once of a launch takes about so long: the least is some ten times what it costs to begin it, the most
 * lets others help soon where blocks differ. */
#define LEAST_NS 4000.0
#define MOST_NS 100000.0

/* How many CUDA threads run at first where nothing is known of a kernel: their time tells how many run next, which are at
 * most so many times as many. */
#define FIRST_THREADS 256
#define GROWTH 8

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

/* Of more threads, some have no range of their own. */
#define MAX_RANGES 128

/* Units that have not begun: the first one, and in the upper half the one behind the last; atomic. */
struct range {
    _Alignas(64) uint64_t units;
};

struct job {
    cf__pool_body *body;
    void *data;
    uint64_t count, unit; /* pieces, and how many are handed out together, at least */
    uint64_t units;
    uint64_t first, most; /* units that run at once: at first, and later; 0: always one, whose time does not count */
    double unit_ns;       /* as far as is known */
    struct range *ranges;
    uint32_t range_count;
    int workers; /* workers that are inside; written under the lock, like what follows */
    struct job *later;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* there is a job, or the end */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* a worker has left a job */
static struct job *jobs;                               /* with pieces left to hand out, oldest first */
static int job_count;                                  /* of those; read without the lock */
static int sleeping;                                   /* workers that wait for work */
static int looking;                                    /* and those that look for it; read without the lock */
static pthread_t workers[MAX_THREADS];
static int thread_count;
static int thread_target = 1; /* with the one that has the job; atomic */
static int is_configured;     /* the target is that of the environment; atomic */
static struct cf__cpus cpus;  /* that the workers may run on; written under the lock */
static int may_spin;          /* each thread can have a processor of its own; atomic */
static int64_t last_end;      /* when a launch ended; atomic */
static int started;           /* the threads were started, or the attempt was made */
static int stopping;

/* The process whose threads these are. A child that no handler hears of, as of clone() or _Fork(), has a copy of all
 * this and none of the threads, and one of them may have held the lock. */
static pid_t owner; /* 0: none yet; atomic */
#define ADOPTING ((pid_t)-1)

static void forget(void)
{
    jobs = NULL;
    job_count = sleeping = looking = 0;
    thread_count = 0;
    started = stopping = 0;
    pthread_cond_init(&work, NULL);
    pthread_cond_init(&done, NULL);
}

/* The first of the child's threads to come here puts things right, the others wait. */
static void adopt(pid_t before, pid_t self)
{
    if (before != ADOPTING &&
        __atomic_compare_exchange_n(&owner, &before, ADOPTING, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (before) {
            pthread_mutex_init(&lock, NULL);
            forget();
        }
        __atomic_store_n(&owner, self, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&owner, __ATOMIC_ACQUIRE) != self)
        sched_yield();
}

static void take_lock(void)
{
    pid_t self = getpid(), before = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);
    if (before != self)
        adopt(before, self);
    cf__lock(&lock);
}

/* ---- Ranges ---- */

static uint64_t range_of(uint64_t begin, uint64_t end)
{
    return end << 32 | begin;
}

static uint64_t left_in(uint64_t range)
{
    return (range >> 32) - (range & UINT32_MAX);
}

/* What one thread ran of a job, and how long the latest of it took. */
struct pace {
    uint64_t units, most; /* most: that run at once next */
    double unit_ns;
    int64_t begin, since;
};

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* How many of the units that are left in a range run at once. */
static uint64_t next_units(const struct job *job, const struct pace *pace, uint64_t left)
{
    if (!job->most)
        return 1;
    double units = (double)(left / 2);
    if (units * pace->unit_ns > MOST_NS)
        units = MOST_NS / pace->unit_ns;
    if (units * pace->unit_ns < LEAST_NS)
        units = LEAST_NS / pace->unit_ns;
    uint64_t most = pace->most < left ? pace->most : left;
    return units >= (double)most ? most : units < 1 ? 1 : (uint64_t)units;
}

static void run_units(const struct job *job, uint64_t begin, uint64_t units)
{
    uint64_t end = begin + units == job->units ? job->count : (begin + units) * job->unit;
    job->body(job->data, begin * job->unit, end);
}

static void run_timed(const struct job *job, struct pace *pace, uint64_t begin, uint64_t units)
{
    run_units(job, begin, units);
    if (!job->most)
        return;
    int64_t time = now(), took = time - pace->since;
    pace->unit_ns = (double)(took < 1 ? 1 : took) / (double)units;
    pace->most = GROWTH * units < job->most ? GROWTH * units : job->most;
    pace->units += units;
    pace->since = time;
}

static struct pace pace_of(const struct job *job)
{
    int64_t time = job->most ? now() : 0;
    return (struct pace){0, job->first, job->unit_ns, time, time};
}

/* Runs units from the begin of a range, or its end; 0 where there are none. */
static int run_from(struct job *job, struct range *range, struct pace *pace, int is_end)
{
    uint64_t before = __atomic_load_n(&range->units, __ATOMIC_RELAXED), after, units, begin;
    do {
        uint64_t left = left_in(before);
        if (!left)
            return 0;
        units = next_units(job, pace, left);
        begin = is_end ? (before >> 32) - units : before & UINT32_MAX;
        after = is_end ? before - (units << 32) : before + units;
    } while (!__atomic_compare_exchange_n(&range->units, &before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    run_timed(job, pace, begin, units);
    return 1;
}

static struct range *longest_range(struct job *job)
{
    struct range *longest = NULL;
    uint64_t most = 0;
    for (uint32_t i = 0; i < job->range_count; i++) {
        uint64_t left = left_in(__atomic_load_n(&job->ranges[i].units, __ATOMIC_RELAXED));
        if (left > most) {
            longest = &job->ranges[i];
            most = left;
        }
    }
    return longest;
}

/* Thread `number` runs what it can get of a job. */
static struct pace run_ranges(struct job *job, uint32_t number)
{
    struct pace pace = pace_of(job);
    struct range *range;
    if (number < job->range_count)
        while (run_from(job, &job->ranges[number], &pace, 0))
            ;
    while ((range = longest_range(job)) != NULL)
        (void)run_from(job, range, &pace, 1);
    return pace;
}

/* ---- Workers ---- */

/* Looks at a number for a short time, until it is 0 or is not. */
static void spin(const int *number, int until_zero)
{
    int64_t start = now();
    do {
        for (int i = 0; i < 8; i++) {
            if ((__atomic_load_n(number, __ATOMIC_RELAXED) == 0) == until_zero)
                return;
#if defined __x86_64__
            __builtin_ia32_pause();
#elif defined __aarch64__
            __asm__ volatile("yield");
#endif
        }
    } while (now() - start < SPIN_NS);
}

/* With the lock: takes a job off the list, where it may no longer stand. */
static void take_off(struct job *job)
{
    for (struct job **link = &jobs; *link; link = &(*link)->later)
        if (*link == job) {
            *link = job->later;
            __atomic_store_n(&job_count, job_count - 1, __ATOMIC_RELAXED);
            return;
        }
}

/* With the lock, which is given away meanwhile. */
static void wait_for_work(void)
{
    if (may_spin) {
        __atomic_store_n(&looking, looking + 1, __ATOMIC_RELAXED);
        cf__unlock(&lock);
        spin(&job_count, 0);
        cf__lock(&lock);
        __atomic_store_n(&looking, looking - 1, __ATOMIC_RELAXED);
    }
    sleeping++;
    while (!jobs && !stopping)
        pthread_cond_wait(&work, &lock);
    sleeping--;
}

#define FAULT_BYTES ((size_t)32 << 10)

/* Where an application's handler of faults runs, if it says SA_ONSTACK: a kernel may have come to the end of its stack.
 * A sanitizer has set one up before. */
static void worker_stack(char *memory, size_t bytes)
{
    const stack_t own = {.ss_sp = memory, .ss_size = bytes};
    stack_t given;
    if (sigaltstack(NULL, &given) == 0 && given.ss_flags & SS_DISABLE)
        (void)sigaltstack(&own, NULL);
}

static void *worker(void *data)
{
    uint32_t number = (uint32_t)(uintptr_t)data;
    char faults[FAULT_BYTES];
    worker_stack(faults, sizeof faults);
    cf__lock(&lock);
    (void)sched_setaffinity(0, sizeof cpus.sets, cpus.sets); /* the thread that started it may be bound to one */
    for (;;) {
        if (!jobs && !stopping)
            wait_for_work();
        if (stopping)
            break;
        struct job *job = jobs;
        __atomic_store_n(&job->workers, job->workers + 1, __ATOMIC_RELAXED);
        cf__unlock(&lock);
        (void)run_ranges(job, number);
        cf__lock(&lock);
        take_off(job);
        __atomic_store_n(&job->workers, job->workers - 1, __ATOMIC_RELAXED);
        if (!job->workers)
            pthread_cond_broadcast(&done);
    }
    cf__unlock(&lock);
    return NULL;
}

/* CF_THREADS, else the processors that this process may use. */
int cf__pool_configure(void)
{
    const char *text = getenv("CF_THREADS");
    struct cf__cpus found;
    int processors = cf__processors(&found);
    int count = processors > MAX_THREADS ? MAX_THREADS : processors;
    if (text && *text) {
        char *end;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (errno || *end || value < 1 || value > MAX_THREADS)
            return cf__fail(CF_EINVAL, "CF_THREADS=%s: it is a number from 1 to %d", text, MAX_THREADS);
        count = (int)value;
    }
    take_lock();
    cpus = found;
    __atomic_store_n(&thread_target, count, __ATOMIC_RELAXED);
    __atomic_store_n(&may_spin, count > 1 && count <= processors, __ATOMIC_RELAXED);
    cf__unlock(&lock);
    int status = cf__host_order_configure();
    if (status == CF_OK)
        __atomic_store_n(&is_configured, 1, __ATOMIC_RELEASE);
    return status;
}

int cf__pool_ready(void)
{
    return __atomic_load_n(&is_configured, __ATOMIC_ACQUIRE) ? CF_OK : cf__pool_configure();
}

int cf__pool_size(void)
{
    return __atomic_load_n(&thread_target, __ATOMIC_RELAXED);
}

void cf__pool_lock(void)
{
    take_lock();
}

void cf__pool_unlock(void)
{
    cf__unlock(&lock);
}

void cf__pool_forget(void)
{
    forget();
    __atomic_store_n(&owner, getpid(), __ATOMIC_RELEASE);
}

/* A kernel's stack comes on top of the default, which may be 128 KiB and holds the program's thread-local data too. */
static void set_stack_size(pthread_attr_t *attributes)
{
    size_t bytes = 0;
    (void)pthread_attr_getstacksize(attributes, &bytes);
    (void)pthread_attr_setstacksize(attributes, bytes + CF__STACK_BYTES + FAULT_BYTES);
}

/* With the lock. Signals are for the application's threads: the workers block them all, but for those of what a kernel
 * does, which no handler would see. */
static void start(void)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    pthread_attr_t attributes;
    started = 1;
    if (pthread_attr_init(&attributes) != 0)
        return;
    set_stack_size(&attributes);
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (thread_count < thread_target - 1 &&
           pthread_create(&workers[thread_count], &attributes, worker, (void *)(uintptr_t)(thread_count + 1)) == 0)
        thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* ---- Jobs ---- */

/* With the lock: as many workers as are wanted, where they sleep. */
static void wake(uint64_t wanted)
{
    if (wanted >= (uint64_t)sleeping)
        pthread_cond_broadcast(&work);
    else
        for (uint64_t i = 0; i < wanted; i++)
            pthread_cond_signal(&work);
}

/* With the lock. */
static void add(struct job *job, uint64_t wanted)
{
    struct job **last = &jobs;
    while (*last)
        last = &(*last)->later;
    *last = job;
    __atomic_store_n(&job_count, job_count + 1, __ATOMIC_RELAXED);
    wake(wanted > (uint64_t)looking ? wanted - (uint64_t)looking : 0);
}

/* Runs the units from `begin` on, with so many workers as are free and wanted. */
static struct pace run_shared(struct job *job, uint64_t begin, uint64_t wanted)
{
    struct range ranges[MAX_RANGES];
    uint64_t left = job->units - begin, count = (uint64_t)cf__pool_size();
    count = count < MAX_RANGES ? count : MAX_RANGES;
    count = count < left ? count : left;
    for (uint64_t i = 0; i < count; i++)
        ranges[i].units = range_of(begin + left * i / count, begin + left * (i + 1) / count);
    job->ranges = ranges;
    job->range_count = (uint32_t)count;
    take_lock();
    if (!started)
        start();
    add(job, wanted < left ? wanted : left - 1);
    int spins = may_spin;
    cf__unlock(&lock);

    struct pace pace = run_ranges(job, 0);

    if (spins)
        spin(&job->workers, 1);
    cf__lock(&lock);
    take_off(job);
    while (job->workers)
        pthread_cond_wait(&done, &lock);
    cf__unlock(&lock);
    return pace;
}

void cf__pool_for(cf__pool_body *body, void *data, uint64_t count, uint64_t chunk)
{
    if (count <= chunk) {
        if (count)
            body(data, 0, count);
        return;
    }
    while (count / chunk >= UINT32_MAX)
        chunk *= 2;
    struct job job = {
        .body = body, .data = data, .count = count, .unit = chunk, .units = count / chunk + (count % chunk != 0)};
    (void)run_shared(&job, 0, UINT64_MAX);
}

/* ---- Launches ---- */

struct launch {
    cf_host_body *body;
    const cf_host_launch *launch;
};

static void run_blocks(void *data, uint64_t begin, uint64_t end)
{
    const struct launch *launch = data;
    if (!cf__host_has_failed(launch->launch))
        launch->body(launch->launch, begin, end);
}

int cf__pool_is_small(uint64_t blocks, uint64_t block_threads)
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

static void remember(cf_host_body *body, const struct pace *pace, uint64_t unit_threads)
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
    if (__atomic_load_n(&looking, __ATOMIC_RELAXED))
        return WORTH_SHARING_NS;
    int is_soon = time - __atomic_load_n(&last_end, __ATOMIC_RELAXED) < SPIN_NS / 2;
    return is_soon && __atomic_load_n(&may_spin, __ATOMIC_RELAXED) ? WORTH_KEEPING_NS : WORTH_WAKING_NS;
}

/* Runs a launch, whose blocks have so many threads. */
static void run_launch(struct launch *launch, uint64_t blocks, uint64_t block_threads)
{
    const uint64_t unit = unit_of(launch->launch, blocks, block_threads), threads = unit * block_threads;
    struct job job = {.body = run_blocks,
                      .data = launch,
                      .count = blocks,
                      .unit = unit,
                      .units = blocks / unit + (blocks % unit != 0),
                      .unit_ns = recall(launch->body) * (double)threads};
    uint64_t share = job.units / 16 / (uint64_t)cf__pool_size(), begun = 0, wanted = UINT64_MAX;
    job.most = at_least_one(share > SMALL_LAUNCH / threads ? share : SMALL_LAUNCH / threads);
    job.first = job.unit_ns > 0 ? job.most : at_least_one(FIRST_THREADS / threads);

    struct pace pace = pace_of(&job);
    const double worth = worth_ns(pace.begin);
    const int is_known = job.unit_ns > 0 && blocks < LARGE_LAUNCH / block_threads;
    if (is_known && job.unit_ns * (double)job.units < worth) {
        begun = at_least_one(PROBE_THREADS / threads);
        run_timed(&job, &pace, 0, begun);
        job.unit_ns = pace.unit_ns;
    }
    const double rest_ns = job.unit_ns * (double)(job.units - begun);
    if (begun && rest_ns < worth) {
        run_timed(&job, &pace, begun, job.units - begun);
    } else {
        if (is_known)
            wanted = at_least_one((uint64_t)(rest_ns / WORK_NS));
        pace = run_shared(&job, begun, wanted);
    }
    remember(launch->body, &pace, threads);
    __atomic_store_n(&last_end, now(), __ATOMIC_RELAXED);
}

void cf__pool_run(cf_host_body *body, const cf_host_launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t block_threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    if (cf__pool_is_small(blocks, block_threads) || cf__pool_size() == 1) {
        body(launch, 0, blocks);
        return;
    }
    struct launch data = {body, launch};
    run_launch(&data, blocks, block_threads);
}

void cf__pool_stop(void)
{
    take_lock();
    stopping = 1;
    pthread_cond_broadcast(&work);
    int count = thread_count;
    cf__unlock(&lock);
    for (int i = 0; i < count; i++)
        pthread_join(workers[i], NULL);
    cf__lock(&lock);
    thread_count = started = stopping = 0;
    cf__unlock(&lock);
    __atomic_store_n(&is_configured, 0, __ATOMIC_RELEASE);
}
