/* pool.c - the worker threads.
 *
 * A job is a number of pieces. Each thread has a range of adjacent pieces, and in jobs for all threads the same one
 * each time, so that it finds its memory in its cache. A thread that has finished its range takes pieces from the ends
 * of other ranges. The calling thread always participates, so that a job completes even if no worker could be started.
 *
 * The calling thread offers the job in a cache line that all spinning workers read, so that one write reaches all of
 * them. Offering and joining take no lock, and a worker that comes late finds the offer closed. Workers leave a job by
 * decrementing an atomic counter; the last one takes the lock only to wake a sleeping calling thread. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <cuferry.h>

#include "threads/pool.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/processors.h"

#define MAX_THREADS 1024

/* Minimum and maximum time in nanoseconds of the units that a thread takes at once. The minimum is about ten times the
 * cost of taking them. The maximum is short enough for other threads to help if some blocks take longer. */
#define LEAST_NS 4000.0
#define MOST_NS 100000.0

#define GROWTH 8 /* a thread takes at most this many times the number of units of its previous turn */

/* Maximum number of ranges of a job. Threads beyond this number have no range of their own and take units from
 * others. */
#define MAX_RANGES 128

/* The units of a range that have not begun. The low half is the number of the first one, the high half the end of the
 * range; atomic. */
struct cf__pool_range {
    _Alignas(64) uint64_t units;
};

enum { SPINS, SLEEPS, BUSY };

/* Each worker writes to a separate cache line. */
static struct worker {
    _Alignas(64) int state; /* spins for a job or is waking up, sleeps at its semaphore, or runs a job; atomic */
    sem_t wake;
    pthread_t thread;
} workers[MAX_THREADS];

/* Number of offers, which fill a cache line. A further job waits for a free offer; its calling thread begins alone. */
#define MAX_OFFERS 4

/* A job that workers may join. The high half of `seats` is the number of workers that the job takes; the low half is
 * the number of workers that have asked for a seat. A worker that asks when all seats are taken gets none. */
static _Alignas(64) struct cf__pool_offer {
    uint64_t seats;           /* has no free seat before and after the offer; atomic */
    struct cf__pool_job *job; /* NULL: the offer is free; atomic */
} offers[MAX_OFFERS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* signals that the last worker has left a job */
static int waiting;                                    /* number of threads that sleep until a job is done; atomic */
static int worker_count;                               /* atomic */
static int asleep;                                     /* number of workers whose state is SLEEPS; atomic */
static int semaphore_count;                            /* number of workers that have a semaphore */
static int thread_target = 1;                          /* number of threads to use, including the caller's; atomic */
static int is_configured;                              /* 1 after thread_target was set from the environment; atomic */
static struct cf__processor_set cpus; /* processors that the workers may run on; written under the lock */
static int may_spin;                  /* 1 if there is a processor for each thread; atomic */
static int is_started;                /* 1 after an attempt to start the workers; atomic */
static int is_stopping;               /* atomic */

/* The process that started the workers. A child of clone() or _Fork(), which run no fork handlers, has a copy of this
 * state but not the threads, and the lock may be held by a thread that it does not have. */
static pid_t owner; /* 0: no process yet; atomic */
#define ADOPTING ((pid_t)-1)

static void forget_workers(void)
{
    waiting = worker_count = asleep = semaphore_count = 0;
    memset(offers, 0, sizeof offers);
    is_started = is_stopping = 0;
    pthread_cond_init(&done, NULL);
}

/* Makes the pool that of this process. The first thread that comes here in a child resets it, and the other threads of
 * the child wait for that. */
static void adopt_pool(pid_t before, pid_t self)
{
    if (before != ADOPTING &&
        __atomic_compare_exchange_n(&owner, &before, ADOPTING, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (before) {
            pthread_mutex_init(&lock, NULL);
            forget_workers();
        }
        __atomic_store_n(&owner, self, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&owner, __ATOMIC_ACQUIRE) != self)
        sched_yield();
}

static void enter_process(void)
{
    pid_t self = getpid(), before = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);
    if (before != self)
        adopt_pool(before, self);
}

static void take_lock(void)
{
    enter_process();
    cf__lock(&lock);
}

/* ---- Ranges ---- */

static uint64_t pack_range(uint64_t begin, uint64_t end)
{
    return end << 32 | begin;
}

static uint64_t count_units(uint64_t range)
{
    return (range >> 32) - (range & UINT32_MAX);
}

/* Returns how many of the `left` units of a range a thread takes next. */
static uint64_t choose_units(const struct cf__pool_job *job, const struct cf__pool_pace *pace, uint64_t left)
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
    int64_t time = cf__now(), took = time - pace->since;
    pace->unit_ns = (double)(took < 1 ? 1 : took) / (double)units;
    pace->most = GROWTH * units < job->most ? GROWTH * units : job->most;
    pace->units += units;
    pace->since = time;
}

struct cf__pool_pace cf__pool_pace_begin(const struct cf__pool_job *job)
{
    int64_t time = job->most ? cf__now() : 0;
    return (struct cf__pool_pace){0, job->first, job->unit_ns, time, time};
}

/* Takes units from the beginning or the end of a range and runs them; returns 0 if none are left. */
static int run_from_range(struct cf__pool_job *job, struct cf__pool_range *range, struct cf__pool_pace *pace,
                          int is_end)
{
    uint64_t before = __atomic_load_n(&range->units, __ATOMIC_RELAXED), after, units, begin;
    do {
        uint64_t left = count_units(before);
        if (!left)
            return 0;
        units = choose_units(job, pace, left);
        begin = is_end ? (before >> 32) - units : before & UINT32_MAX;
        after = is_end ? before - (units << 32) : before + units;
    } while (!__atomic_compare_exchange_n(&range->units, &before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    cf__pool_run_timed(job, pace, begin, units);
    return 1;
}

static struct cf__pool_range *find_longest_range(struct cf__pool_job *job)
{
    struct cf__pool_range *longest = NULL;
    uint64_t most = 0;
    for (uint32_t i = 0; i < job->range_count; i++) {
        uint64_t left = count_units(__atomic_load_n(&job->ranges[i].units, __ATOMIC_RELAXED));
        if (left > most) {
            longest = &job->ranges[i];
            most = left;
        }
    }
    return longest;
}

/* ---- Offers ---- */

static int change_state(struct worker *worker, int before, int after)
{
    return __atomic_compare_exchange_n(&worker->state, &before, after, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Wakes workers until as many are free as the job wants to wake. A worker that goes to sleep at the same time either
 * sees the offer, or is seen here. */
static void wake_workers(const struct cf__pool_job *job)
{
    const int count = __atomic_load_n(&worker_count, __ATOMIC_ACQUIRE);
    int awake = 0;
    if (!__atomic_load_n(&asleep, __ATOMIC_SEQ_CST))
        return;
    for (int i = 0; i < count && awake < job->woken; i++)
        awake += __atomic_load_n(&workers[i].state, __ATOMIC_RELAXED) == SPINS;
    for (int i = 0; i < count && awake < job->woken; i++) {
        if (__atomic_load_n(&workers[i].state, __ATOMIC_RELAXED) != SLEEPS || !change_state(&workers[i], SLEEPS, SPINS))
            continue;
        __atomic_sub_fetch(&asleep, 1, __ATOMIC_RELAXED);
        (void)sem_post(&workers[i].wake);
        awake++;
    }
}

/* Offers a job to the workers, if an offer is free. The job's counter includes all seats from the start, so that it
 * does not reach 0 too early. */
static void offer_job(struct cf__pool_job *job)
{
    for (int i = 0; i < MAX_OFFERS && job->seats; i++) {
        struct cf__pool_job *none = NULL;
        if (__atomic_load_n(&offers[i].job, __ATOMIC_RELAXED) != NULL ||
            !__atomic_compare_exchange_n(&offers[i].job, &none, job, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        job->offer = &offers[i];
        __atomic_store_n(&job->workers, job->seats, __ATOMIC_RELAXED);
        __atomic_store_n(&offers[i].seats, (uint64_t)job->seats << 32, __ATOMIC_SEQ_CST);
        wake_workers(job);
        return;
    }
}

/* Closes a job's offer, and takes the free seats off the counter. */
static void close_offer(struct cf__pool_job *job)
{
    const uint64_t seats = __atomic_exchange_n(&job->offer->seats, 0, __ATOMIC_ACQUIRE);
    const uint32_t asked = (uint32_t)seats, count = (uint32_t)job->seats;
    __atomic_sub_fetch(&job->workers, asked < count ? (int)(count - asked) : 0, __ATOMIC_ACQUIRE);
}

static int has_seat(uint64_t seats)
{
    return (uint32_t)seats < (uint32_t)(seats >> 32);
}

static int is_offered(void)
{
    for (int i = 0; i < MAX_OFFERS; i++)
        if (has_seat(__atomic_load_n(&offers[i].seats, __ATOMIC_SEQ_CST)))
            return 1;
    return 0;
}

/* Takes a seat of an offered job; returns NULL if there is none. `*number` becomes the worker's number in the job. In a
 * job that takes all workers, each worker has the same number every time. */
static struct cf__pool_job *take_seat(const struct worker *own, uint32_t *number)
{
    for (int i = 0; i < MAX_OFFERS; i++) {
        if (!has_seat(__atomic_load_n(&offers[i].seats, __ATOMIC_RELAXED)))
            continue;
        const uint64_t seats = __atomic_fetch_add(&offers[i].seats, 1, __ATOMIC_ACQUIRE);
        if (!has_seat(seats))
            continue;
        struct cf__pool_job *job = __atomic_load_n(&offers[i].job, __ATOMIC_RELAXED);
        const int is_for_all = job->seats >= __atomic_load_n(&worker_count, __ATOMIC_RELAXED);
        *number = 1 + (is_for_all ? (uint32_t)(own - workers) : (uint32_t)seats);
        return job;
    }
    return NULL;
}

/* Runs units as thread `number` of a job until all units have begun. Thread 0, the calling one, offers the job now if
 * no offer was free before. */
static struct cf__pool_pace run_ranges(struct cf__pool_job *job, uint32_t number)
{
    struct cf__pool_pace pace = cf__pool_pace_begin(job);
    struct cf__pool_range *range;
    if (number < job->range_count)
        while (run_from_range(job, &job->ranges[number], &pace, 0))
            if (!number && !job->offer && find_longest_range(job) != NULL)
                offer_job(job);
    while ((range = find_longest_range(job)) != NULL)
        (void)run_from_range(job, range, &pace, 1);
    return pace;
}

/* ---- Workers ---- */

/* Waits until the workers have left a job, for at most CF__POOL_SPIN_NS. */
static void spin_for_workers(const struct cf__pool_job *job)
{
    const int64_t start = cf__now();
    while (__atomic_load_n(&job->workers, __ATOMIC_ACQUIRE) && cf__now() - start < CF__POOL_SPIN_NS)
        cf__processor_pause();
}

/* Leaves a job. The worker's state is SPINS before the counter falls, because the calling thread may start its next job
 * at once. After the counter has fallen, the job may no longer exist. If the calling thread begins to sleep at the same
 * time, either this thread sees it, or the calling thread sees that no worker is left. */
static void leave_job(struct worker *own, struct cf__pool_job *job)
{
    __atomic_store_n(&own->state, SPINS, __ATOMIC_RELAXED);
    if (__atomic_sub_fetch(&job->workers, 1, __ATOMIC_SEQ_CST) || !__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
        return;
    cf__lock(&lock);
    pthread_cond_broadcast(&done);
    cf__unlock(&lock);
}

static void sleep_for_workers(const struct cf__pool_job *job)
{
    cf__lock(&lock);
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&job->workers, __ATOMIC_SEQ_CST))
        pthread_cond_wait(&done, &lock);
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_RELAXED);
    cf__unlock(&lock);
}

/* Ends the offer of a job whose units have all begun, and waits until the workers have left it. */
static void wait_for_workers(struct cf__pool_job *job)
{
    if (!job->offer)
        return;
    close_offer(job);
    if (__atomic_load_n(&may_spin, __ATOMIC_RELAXED))
        spin_for_workers(job);
    if (__atomic_load_n(&job->workers, __ATOMIC_ACQUIRE))
        sleep_for_workers(job);
    __atomic_store_n(&job->offer->job, NULL, __ATOMIC_RELEASE);
}

/* Spins until there is a job or the worker has to end, for at most CF__POOL_WAIT_NS. */
static struct cf__pool_job *spin_for_job(const struct worker *own, uint32_t *number)
{
    const int64_t start = cf__now();
    for (int64_t ns = 0; ns < CF__POOL_WAIT_NS; ns = cf__now() - start) {
        for (int i = 0; i < 8; i++) {
            struct cf__pool_job *job = take_seat(own, number);
            if (job || __atomic_load_n(&is_stopping, __ATOMIC_RELAXED))
                return job;
            cf__processor_pause();
        }
        if (ns >= CF__POOL_SPIN_NS)
            (void)sched_yield();
    }
    return NULL;
}

/* Sleeps until the worker is woken, unless there is a job or the worker has to end. The semaphore may have a token of
 * an earlier wake-up for which the worker did not wait. */
static void sleep_for_job(struct worker *own)
{
    __atomic_add_fetch(&asleep, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&own->state, SLEEPS, __ATOMIC_SEQ_CST);
    if (!is_offered()) {
        while (__atomic_load_n(&own->state, __ATOMIC_ACQUIRE) == SLEEPS &&
               !__atomic_load_n(&is_stopping, __ATOMIC_SEQ_CST))
            (void)sem_wait(&own->wake);
    }
    if (change_state(own, SLEEPS, SPINS))
        __atomic_sub_fetch(&asleep, 1, __ATOMIC_RELAXED);
}

/* Waits for a job and joins it; returns NULL if the worker has to end. */
static struct cf__pool_job *join_job(struct worker *own, uint32_t *number)
{
    while (!__atomic_load_n(&is_stopping, __ATOMIC_SEQ_CST)) {
        struct cf__pool_job *job =
            __atomic_load_n(&may_spin, __ATOMIC_RELAXED) ? spin_for_job(own, number) : take_seat(own, number);
        if (job) {
            __atomic_store_n(&own->state, BUSY, __ATOMIC_RELAXED);
            return job;
        }
        sleep_for_job(own);
    }
    return NULL;
}

#define FAULT_BYTES ((size_t)32 << 10)

/* Gives the thread a stack for signals. An application's fault handler with SA_ONSTACK needs it, because a kernel may
 * have exhausted the thread's own stack. Sanitizers set one up themselves. */
static void set_signal_stack(char *memory, size_t bytes)
{
    const stack_t own = {.ss_sp = memory, .ss_size = bytes};
    stack_t given;
    if (sigaltstack(NULL, &given) == 0 && given.ss_flags & SS_DISABLE)
        (void)sigaltstack(&own, NULL);
}

static void *run_worker(void *data)
{
    struct worker *own = data;
    uint32_t number;
    char faults[FAULT_BYTES];
    set_signal_stack(faults, sizeof faults);
    cf__lock(&lock);
    const struct cf__processor_set allowed = cpus;
    cf__unlock(&lock);
    (void)sched_setaffinity(0, sizeof allowed.sets, allowed.sets); /* a new thread inherits the mask of its creator */
    for (struct cf__pool_job *job; (job = join_job(own, &number)) != NULL; leave_job(own, job))
        (void)run_ranges(job, number);
    return NULL;
}

int cf__pool_configure(void)
{
    struct cf__processor_set found;
    int processors = cf__processors_count(&found), count, status = cf__env_read_threads(MAX_THREADS, &count);
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
    forget_workers();
    __atomic_store_n(&owner, getpid(), __ATOMIC_RELEASE);
}

/* Sets the size of a worker's stack to the default size plus the size that a kernel needs. The default may be only 128
 * KiB, and includes the program's thread-local data. */
static void set_stack_size(pthread_attr_t *attributes)
{
    size_t bytes = 0;
    (void)pthread_attr_getstacksize(attributes, &bytes);
    (void)pthread_attr_setstacksize(attributes, bytes + CF__STACK_BYTES + FAULT_BYTES);
}

/* Creates the workers. They block signals, because those are for the application's threads. Only the signals of a
 * kernel's faults are not blocked, because the faulting thread has to handle them. The caller holds the lock. */
static void create_workers(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    set_stack_size(&attributes);
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; semaphore_count < thread_target - 1; semaphore_count++)
        (void)sem_init(&workers[semaphore_count].wake, 0, 0);
    for (int count = 0; count < thread_target - 1; __atomic_store_n(&worker_count, ++count, __ATOMIC_RELEASE)) {
        __atomic_store_n(&workers[count].state, SPINS, __ATOMIC_RELAXED);
        if (pthread_create(&workers[count].thread, &attributes, run_worker, &workers[count]) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void start_workers(void)
{
    cf__lock(&lock);
    if (!is_started)
        create_workers();
    __atomic_store_n(&is_started, 1, __ATOMIC_RELEASE);
    cf__unlock(&lock);
}

/* ---- Jobs ---- */

struct cf__pool_pace cf__pool_share(struct cf__pool_job *job, uint64_t begin, uint64_t awake, uint64_t woken)
{
    struct cf__pool_range ranges[MAX_RANGES];
    uint64_t left = job->units - begin, count = (uint64_t)cf__pool_size();
    count = count < left ? count : left;
    awake = __atomic_load_n(&may_spin, __ATOMIC_RELAXED) ? awake : woken;
    job->seats = awake < count ? (int)awake : (int)count - 1;
    job->woken = woken < count ? (int)woken : (int)count - 1;
    count = count < MAX_RANGES ? count : MAX_RANGES;
    count = awake < count ? awake + 1 : count;
    for (uint64_t i = 0; i < count; i++)
        ranges[i].units = pack_range(begin + left * i / count, begin + left * (i + 1) / count);
    job->ranges = ranges;
    job->range_count = (uint32_t)count;
    enter_process();
    if (!__atomic_load_n(&is_started, __ATOMIC_ACQUIRE))
        start_workers();
    offer_job(job);

    struct cf__pool_pace pace = run_ranges(job, 0);

    wait_for_workers(job);
    return pace;
}

void cf__pool_for(cf__pool_body *body, void *data, uint64_t count, uint64_t unit)
{
    if (count <= unit) {
        if (count)
            body(data, 0, count);
        return;
    }
    while (count / unit >= UINT32_MAX)
        unit *= 2;
    struct cf__pool_job job = {
        .body = body, .data = data, .count = count, .unit = unit, .units = count / unit + (count % unit != 0)};
    (void)cf__pool_share(&job, 0, UINT64_MAX, UINT64_MAX);
}

enum cf__pool_idle cf__pool_idle_state(void)
{
    const int count = __atomic_load_n(&worker_count, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&may_spin, __ATOMIC_RELAXED))
        return CF__POOL_SLEEPS;
    for (int i = 0; i < count; i++)
        if (__atomic_load_n(&workers[i].state, __ATOMIC_RELAXED) == SPINS)
            return CF__POOL_SPINS;
    return CF__POOL_MAY_SPIN;
}

void cf__pool_stop(void)
{
    take_lock();
    __atomic_store_n(&is_stopping, 1, __ATOMIC_SEQ_CST);
    int count = worker_count;
    cf__unlock(&lock);
    for (int i = 0; i < count; i++)
        (void)sem_post(&workers[i].wake);
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    cf__lock(&lock);
    __atomic_store_n(&worker_count, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&is_stopping, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&is_started, 0, __ATOMIC_RELEASE);
    cf__unlock(&lock);
    __atomic_store_n(&is_configured, 0, __ATOMIC_RELEASE);
}
