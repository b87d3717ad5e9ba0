/* pool.c - the worker threads.
 *
 * A job is a number of pieces. Each thread has a range of them that lie side by side, the same from job to job, so that
 * it comes to the memory that it had before; who is through with its own takes from the ends of others. The thread that
 * has the job always takes part, so that a job ends even where no worker could be started. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cuferry.h>

#include "threads/pool.h"

#include "base/bounds.h"
#include "base/env.h"
#include "base/log.h"
#include "base/processors.h"

#define MAX_THREADS 1024

/* What runs at once of a launch takes about so long: the least is some ten times what it costs to begin it, the most
 * lets others help soon where blocks differ. */
#define LEAST_NS 4000.0
#define MOST_NS 100000.0

#define GROWTH 8

/* Of more threads, some have no range of their own. */
#define MAX_RANGES 128

/* Units that have not begun: the first one, and in the upper half the one behind the last; atomic. */
struct cf__pool_range {
    _Alignas(64) uint64_t units;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* there is a job, or the end */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* a worker has left a job */
static struct cf__pool_job *jobs;                      /* with pieces left to hand out, oldest first */
static int job_count;                                  /* of those; read without the lock */
static int sleeping;                                   /* workers that wait for work */
static int looking;                                    /* and those that look for it; read without the lock */
static pthread_t workers[MAX_THREADS];
static int thread_count;
static int thread_target = 1; /* with the one that has the job; atomic */
static int is_configured;     /* the target is that of the environment; atomic */
static struct cf__cpus cpus;  /* that the workers may run on; written under the lock */
static int may_spin;          /* each thread can have a processor of its own; atomic */
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

int64_t cf__pool_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* How many of the units that are left in a range run at once. */
static uint64_t next_units(const struct cf__pool_job *job, const struct cf__pool_pace *pace, uint64_t left)
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

static void run_units(const struct cf__pool_job *job, uint64_t begin, uint64_t units)
{
    uint64_t end = begin + units == job->units ? job->count : (begin + units) * job->unit;
    job->body(job->data, begin * job->unit, end);
}

void cf__pool_run_timed(const struct cf__pool_job *job, struct cf__pool_pace *pace, uint64_t begin, uint64_t units)
{
    run_units(job, begin, units);
    if (!job->most)
        return;
    int64_t time = cf__pool_now(), took = time - pace->since;
    pace->unit_ns = (double)(took < 1 ? 1 : took) / (double)units;
    pace->most = GROWTH * units < job->most ? GROWTH * units : job->most;
    pace->units += units;
    pace->since = time;
}

struct cf__pool_pace cf__pool_pace_begin(const struct cf__pool_job *job)
{
    int64_t time = job->most ? cf__pool_now() : 0;
    return (struct cf__pool_pace){0, job->first, job->unit_ns, time, time};
}

/* Runs units from the begin of a range, or its end; 0 where there are none. */
static int run_from(struct cf__pool_job *job, struct cf__pool_range *range, struct cf__pool_pace *pace, int is_end)
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
    cf__pool_run_timed(job, pace, begin, units);
    return 1;
}

static struct cf__pool_range *longest_range(struct cf__pool_job *job)
{
    struct cf__pool_range *longest = NULL;
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
static struct cf__pool_pace run_ranges(struct cf__pool_job *job, uint32_t number)
{
    struct cf__pool_pace pace = cf__pool_pace_begin(job);
    struct cf__pool_range *range;
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
    int64_t start = cf__pool_now();
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
    } while (cf__pool_now() - start < CF__POOL_SPIN_NS);
}

/* With the lock: takes a job off the list, where it may no longer stand. */
static void take_off(struct cf__pool_job *job)
{
    for (struct cf__pool_job **link = &jobs; *link; link = &(*link)->later)
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
        struct cf__pool_job *job = jobs;
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

int cf__pool_configure(void)
{
    struct cf__cpus found;
    int processors = cf__processors(&found), count, status = cf__env_read_threads(MAX_THREADS, &count);
    if (status != CF_OK)
        return status;
    if (!count)
        count = processors > MAX_THREADS ? MAX_THREADS : processors;
    take_lock();
    cpus = found;
    __atomic_store_n(&thread_target, count, __ATOMIC_RELAXED);
    __atomic_store_n(&may_spin, count > 1 && count <= processors, __ATOMIC_RELAXED);
    cf__unlock(&lock);
    __atomic_store_n(&is_configured, 1, __ATOMIC_RELEASE);
    return CF_OK;
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
static void add(struct cf__pool_job *job, uint64_t wanted)
{
    struct cf__pool_job **last = &jobs;
    while (*last)
        last = &(*last)->later;
    *last = job;
    __atomic_store_n(&job_count, job_count + 1, __ATOMIC_RELAXED);
    wake(wanted > (uint64_t)looking ? wanted - (uint64_t)looking : 0);
}

/* Runs the units from `begin` on, with so many workers as are free and wanted. */
struct cf__pool_pace cf__pool_share(struct cf__pool_job *job, uint64_t begin, uint64_t wanted)
{
    struct cf__pool_range ranges[MAX_RANGES];
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

    struct cf__pool_pace pace = run_ranges(job, 0);

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
    struct cf__pool_job job = {
        .body = body, .data = data, .count = count, .unit = chunk, .units = count / chunk + (count % chunk != 0)};
    (void)cf__pool_share(&job, 0, UINT64_MAX);
}

enum cf__pool_idle cf__pool_idle_state(void)
{
    if (__atomic_load_n(&looking, __ATOMIC_RELAXED))
        return CF__POOL_LOOKS;
    return __atomic_load_n(&may_spin, __ATOMIC_RELAXED) ? CF__POOL_MAY_LOOK : CF__POOL_SLEEPS;
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
