/* limited.c - runs work on a separate thread, which the caller abandons if the work takes too long. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "threads/limited.h"

#include "base/lock.h"

struct run {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*work)(void *data);
    void (*release)(void *data);
    void *data;
    int is_done, is_left; /* the work has ended; the caller has gone on without it; both guarded by the lock */
};

/* Number of abandoned threads and, in the upper half, the number of the process that has them. A forked child has
 * none. */
enum { PROCESS = 32 };
static _Atomic uint64_t left;
static pthread_once_t is_kept = PTHREAD_ONCE_INIT;

static uint32_t count_left(uint64_t of)
{
    return of >> PROCESS == (uint64_t)getpid() ? (uint32_t)of : 0;
}

static void change_left(int by)
{
    uint64_t before = atomic_load(&left), after;
    do
        after = (uint64_t)getpid() << PROCESS | (count_left(before) + (uint32_t)by);
    while (!atomic_compare_exchange_weak(&left, &before, after));
}

static void free_run(struct run *run)
{
    (void)pthread_cond_destroy(&run->changed);
    (void)pthread_mutex_destroy(&run->lock);
    free(run);
}

static void *run_thread(void *argument)
{
    struct run *run = argument;
    run->work(run->data);
    cf__lock(&run->lock);
    run->is_done = 1;
    int is_left = run->is_left;
    (void)pthread_cond_signal(&run->changed);
    cf__unlock(&run->lock);
    if (is_left) {
        run->release(run->data);
        free_run(run);
        change_left(-1);
    }
    return NULL;
}

static struct run *make_run(void (*work)(void *data), void (*release)(void *data), void *data)
{
    pthread_condattr_t clock;
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->work = work;
    run->release = release;
    run->data = data;
    (void)pthread_mutex_init(&run->lock, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&run->changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    return run;
}

/* Starts the thread. It blocks signals, because they are for the program's own threads. Its stack is large, because
 * compilers recurse deeply. */
static int start_thread(struct run *run, pthread_t *thread)
{
    enum { STACK = 16 << 20 };
    pthread_attr_t attributes;
    sigset_t all, before;
    (void)sigfillset(&all);
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    (void)pthread_attr_setstacksize(&attributes, STACK);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    error = pthread_create(thread, &attributes, run_thread, run);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return error;
}

/* Keeps this code's shared object mapped while an abandoned thread runs it. At the end of the process, makes the
 * process wait, so that the destructors of the other library do not run at the same time as the thread. */
static void keep_code(void)
{
    Dl_info info;
    if (dladdr(&left, &info) != 0 && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    (void)atexit(cf__limited_wait);
}

int cf__limited_run(void (*work)(void *data), void (*release)(void *data), void *data, int limit)
{
    struct timespec end;
    pthread_t thread;
    struct run *run = make_run(work, release, data);
    if (!run || start_thread(run, &thread) != 0) {
        if (run)
            free_run(run);
        work(data);
        return 1;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t nanoseconds = end.tv_nsec + (int64_t)(limit % 1000) * 1000000;
    end.tv_sec += limit / 1000 + nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    cf__lock(&run->lock);
    while (!run->is_done && pthread_cond_timedwait(&run->changed, &run->lock, &end) != ETIMEDOUT)
        continue;
    int is_done = run->is_done;
    if (!is_done) {
        run->is_left = 1;
        change_left(1);
        (void)pthread_detach(thread);
    }
    cf__unlock(&run->lock);
    if (!is_done) {
        (void)pthread_once(&is_kept, keep_code);
        return 0;
    }
    (void)pthread_join(thread, NULL);
    free_run(run);
    return 1;
}

void cf__limited_wait(void)
{
    enum { PAUSE = 2000000, PAUSES = 30000 }; /* length of a pause in ns; number of pauses in a minute */
    const struct timespec pause = {0, PAUSE};
    for (int i = 0; i < PAUSES && count_left(atomic_load(&left)) > 0; i++)
        (void)nanosleep(&pause, NULL);
}
