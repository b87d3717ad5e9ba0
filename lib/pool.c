/* pool.c - the worker threads that run kernels on the CPU, search arrays and fill the buffers of copies.
 *
 * A job is a number of pieces: they are handed out in chunks from one counter to the thread that has the job and to
 * every worker that is free. That thread always takes part, so that a job ends even where no worker could be
 * started. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "block.h"
#include "internal.h"

/* Launches of fewer CUDA threads than this run on the launching thread. Measured on two cores: waking the worker cost 6
 * to 8 us, and a gather of this many took one thread 11 us. */
#define SMALL_LAUNCH 16384

/* CUDA threads to a chunk, at least: keeps the counter's cost away from the work's. */
#define CHUNK 4096

#define MAX_THREADS 1024

/* How long a thread looks for work, or for the end of it, before it sleeps: jobs follow one another within a call, and
 * to wake a thread takes as long as this. */
#define SPIN_NS 15000

struct job {
    cf__pool_body *body;
    void *data;
    uint64_t count, chunk;
    uint64_t next; /* first piece not yet handed out; atomic */
    int workers;   /* workers that are inside; written under the lock, like what follows */
    struct job *later;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* there is a job, or the end */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* a worker has left a job */
static struct job *jobs;                               /* with pieces left to hand out, oldest first */
static int job_count;                                  /* of those; read without the lock */
static int sleeping;                                   /* workers that wait for work */
static pthread_t threads[MAX_THREADS];
static int thread_count;
static int thread_target = 1; /* with the one that has the job; atomic */
static int is_configured;     /* the target is that of the environment; atomic */
static int may_spin;          /* each thread can have a processor of its own */
static int started;           /* the threads were started, or the attempt was made */
static int stopping;

/* The process whose threads these are. A child that no handler hears of, as of clone() or _Fork(), has a copy of all
 * this and none of the threads, and one of them may have held the lock. */
static pid_t owner; /* 0: none yet; atomic */
#define ADOPTING ((pid_t)-1)

static void forget(void)
{
    jobs = NULL;
    job_count = sleeping = 0;
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
    pthread_mutex_lock(&lock);
}

static void run_chunks(struct job *job)
{
    uint64_t begin;
    while ((begin = __atomic_fetch_add(&job->next, job->chunk, __ATOMIC_RELAXED)) < job->count) {
        uint64_t end = job->count - begin < job->chunk ? job->count : begin + job->chunk;
        job->body(job->data, begin, end);
    }
}

/* Looks at a number for a short time, until it is 0 or is not. */
static void spin(const int *number, int until_zero)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
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
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000 + (now.tv_nsec - start.tv_nsec) < SPIN_NS);
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
        pthread_mutex_unlock(&lock);
        spin(&job_count, 0);
        pthread_mutex_lock(&lock);
    }
    sleeping++;
    while (!jobs && !stopping)
        pthread_cond_wait(&work, &lock);
    sleeping--;
}

static void *worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        if (!jobs && !stopping)
            wait_for_work();
        if (stopping)
            break;
        struct job *job = jobs;
        __atomic_store_n(&job->workers, job->workers + 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&lock);
        run_chunks(job);
        pthread_mutex_lock(&lock);
        take_off(job);
        __atomic_store_n(&job->workers, job->workers - 1, __ATOMIC_RELAXED);
        if (!job->workers)
            pthread_cond_broadcast(&done);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* CF_THREADS, else the processors that this process may run on. */
int cf__pool_configure(void)
{
    const char *text = getenv("CF_THREADS");
    cpu_set_t set;
    /* Fails where the machine may have more processors than the set holds. */
    int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    int count = processors < 1 ? 1 : processors > MAX_THREADS ? MAX_THREADS : processors;
    if (text && *text) {
        char *end;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (errno || *end || value < 1 || value > MAX_THREADS)
            return cf__fail(CF_EINVAL, "CF_THREADS=%s: it is a number from 1 to %d", text, MAX_THREADS);
        count = (int)value;
    }
    take_lock();
    __atomic_store_n(&thread_target, count, __ATOMIC_RELAXED);
    may_spin = count > 1 && count <= processors;
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_unlock(&lock);
}

void cf__pool_forget(void)
{
    forget();
    __atomic_store_n(&owner, getpid(), __ATOMIC_RELEASE);
}

/* With the lock. Signals are for the application's threads: the workers block them all. */
static void start(void)
{
    started = 1;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (thread_count < thread_target - 1 && pthread_create(&threads[thread_count], NULL, worker, NULL) == 0)
        thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With the lock: as many workers as can have a chunk, where they sleep. */
static void wake(const struct job *job)
{
    uint64_t chunks = job->count / job->chunk + (job->count % job->chunk != 0);
    if (chunks > (uint64_t)sleeping)
        pthread_cond_broadcast(&work);
    else
        for (uint64_t i = 1; i < chunks; i++)
            pthread_cond_signal(&work);
}

static void add(struct job *job)
{
    struct job **last = &jobs;
    while (*last)
        last = &(*last)->later;
    *last = job;
    __atomic_store_n(&job_count, job_count + 1, __ATOMIC_RELAXED);
    wake(job);
}

void cf__pool_for(cf__pool_body *body, void *data, uint64_t count, uint64_t chunk)
{
    if (count <= chunk) {
        if (count)
            body(data, 0, count);
        return;
    }
    struct job job = {.body = body, .data = data, .count = count, .chunk = chunk};
    int cancel = cf__cancel_off(); /* the workers know of the job on this thread's stack */
    take_lock();
    if (!started)
        start();
    add(&job);
    int spins = may_spin;
    pthread_mutex_unlock(&lock);

    run_chunks(&job);

    if (spins)
        spin(&job.workers, 1);
    pthread_mutex_lock(&lock);
    take_off(&job);
    while (job.workers)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
    cf__cancel_on(cancel);
}

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

void cf__pool_run(cf_host_body *body, const cf_host_launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t block_threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    if (cf__pool_is_small(blocks, block_threads)) {
        body(launch, 0, blocks);
        return;
    }
    uint64_t chunk = blocks / 16 / (uint64_t)cf__pool_size();
    uint64_t smallest = (CHUNK + block_threads - 1) / block_threads;
    struct launch data = {body, launch};
    cf__pool_for(run_blocks, &data, blocks, chunk > smallest ? chunk : smallest);
}

void cf__pool_stop(void)
{
    take_lock();
    stopping = 1;
    pthread_cond_broadcast(&work);
    int count = thread_count;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    thread_count = started = stopping = 0;
    pthread_mutex_unlock(&lock);
    __atomic_store_n(&is_configured, 0, __ATOMIC_RELEASE);
}
