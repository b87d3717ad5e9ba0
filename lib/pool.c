/* pool.c - the worker threads that run kernels on the CPU.
 *
 * A launch is a job: blocks are handed out in chunks from one counter to the launching thread and to every worker that
 * is free. The launching thread always takes part, so that a job ends even where no worker could be started. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

/* Launches of fewer CUDA threads than this run on the launching thread. Measured on two cores: waking the worker cost 6
 * to 8 us, and a gather of this many took one thread 11 us. */
#define SMALL_LAUNCH 16384

/* CUDA threads to a chunk, at least: keeps the counter's cost away from the work's. */
#define CHUNK 4096

#define MAX_THREADS 1024

struct job {
    cf_host_body *body;
    const cf_host_launch *launch;
    uint64_t blocks, chunk;
    uint64_t next; /* first block not yet handed out; atomic */
    int workers;   /* workers that are inside; under the lock, like what follows */
    struct job *later;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* there is a job, or the end */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* a worker has left a job */
static struct job *jobs;                               /* with blocks left to hand out, oldest first */
static pthread_t threads[MAX_THREADS];
static int thread_count;
static int thread_target = 1; /* with the launching one */
static int started;           /* the threads were started, or the attempt was made */
static int stopping;

static void run_chunks(struct job *job)
{
    uint64_t begin;
    while ((begin = __atomic_fetch_add(&job->next, job->chunk, __ATOMIC_RELAXED)) < job->blocks) {
        uint64_t end = job->blocks - begin < job->chunk ? job->blocks : begin + job->chunk;
        job->body(job->launch, begin, end);
    }
}

/* With the lock: takes a job off the list, where it may no longer stand. */
static void take_off(struct job *job)
{
    for (struct job **link = &jobs; *link; link = &(*link)->later)
        if (*link == job) {
            *link = job->later;
            return;
        }
}

static void *worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!jobs && !stopping)
            pthread_cond_wait(&work, &lock);
        if (stopping)
            break;
        struct job *job = jobs;
        job->workers++;
        pthread_mutex_unlock(&lock);
        run_chunks(job);
        pthread_mutex_lock(&lock);
        take_off(job);
        job->workers--;
        pthread_cond_broadcast(&done);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* CF_THREADS, else the processors that this process may run on. */
int cf__pool_configure(void)
{
    const char *text = getenv("CF_THREADS");
    int count;
    if (text && *text) {
        char *end;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (errno || *end || value < 1 || value > MAX_THREADS)
            return cf__fail(CF_EINVAL, "CF_THREADS=%s: it is a number from 1 to %d", text, MAX_THREADS);
        count = (int)value;
    } else {
        cpu_set_t set;
        /* Fails where the machine may have more processors than the set holds. */
        count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
        count = count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : count;
    }
    pthread_mutex_lock(&lock);
    thread_target = count;
    pthread_mutex_unlock(&lock);
    return CF_OK;
}

int cf__pool_size(void)
{
    pthread_mutex_lock(&lock);
    int size = thread_target;
    pthread_mutex_unlock(&lock);
    return size;
}

void cf__pool_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cf__pool_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void cf__pool_forget(void)
{
    jobs = NULL;
    thread_count = 0;
    started = 0;
    pthread_cond_init(&work, NULL);
    pthread_cond_init(&done, NULL);
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

void cf__pool_run(cf_host_body *body, const cf_host_launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t block_threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    if (blocks <= 1 || blocks < SMALL_LAUNCH / block_threads) {
        body(launch, 0, blocks);
        return;
    }
    pthread_mutex_lock(&lock);
    if (!started)
        start();
    uint64_t chunk = blocks / 16 / (uint64_t)(thread_count + 1), smallest = (CHUNK + block_threads - 1) / block_threads;
    struct job job = {.body = body, .launch = launch, .blocks = blocks, .chunk = chunk > smallest ? chunk : smallest};
    struct job **last = &jobs;
    while (*last)
        last = &(*last)->later;
    *last = &job;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);

    run_chunks(&job);

    pthread_mutex_lock(&lock);
    take_off(&job);
    while (job.workers)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
}

void cf__pool_stop(void)
{
    pthread_mutex_lock(&lock);
    stopping = 1;
    pthread_cond_broadcast(&work);
    int count = thread_count;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    thread_count = started = stopping = 0;
    pthread_mutex_unlock(&lock);
}
