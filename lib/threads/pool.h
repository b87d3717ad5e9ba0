/* pool.h - worker threads. */
#ifndef CF__POOL_H
#define CF__POOL_H

#include <stdint.h>

/* Reads CF_THREADS and counts processors. Returns a status. Called before the first job. */
int cf__pool_configure(void);

/* Configures the pool, unless it has been configured since cf__pool_stop(). */
int cf__pool_ready(void);

/* Returns the number of threads that run a job, including the calling thread. */
int cf__pool_size(void);

/* Processes pieces [begin, end) of a job; several threads call it at the same time. */
typedef void cf__pool_body(void *data, uint64_t begin, uint64_t end);

/* Calls `body` for pieces [0, count) on the worker threads and the calling thread, and returns when all are done. Each
 * call of `body` gets whole units of `unit` pieces; the last unit may be shorter. A thread gets adjacent units, the
 * same ones in each job of this size. */
void cf__pool_for(cf__pool_body *body, void *data, uint64_t count, uint64_t unit);

/* Ends the worker threads; a later job starts new ones. */
void cf__pool_stop(void);

/* The pool's lock, for fork handlers. */
void cf__pool_lock(void);
void cf__pool_unlock(void);

/* Forgets the workers in a forked child. The caller holds the lock. */
void cf__pool_forget(void);

/* ---- Jobs whose pieces are timed ---- */

/* Time in nanoseconds that a thread spins for work, or for the end of a job, before it yields or sleeps. The jobs of a
 * call closely follow one another, and waking a thread takes 10 us or more. */
#define CF__POOL_SPIN_NS 50000

/* Time in nanoseconds that a worker waits for a job before it sleeps. The serial part between two loops of a program
 * often takes this long. After CF__POOL_SPIN_NS the worker offers its processor to other threads all the time. */
#define CF__POOL_WAIT_NS 2000000

struct cf__pool_range;
struct cf__pool_offer;

/* A job consists of pieces, which threads take in units. */
struct cf__pool_job {
    cf__pool_body *body;
    void *data;
    uint64_t count; /* number of pieces */
    uint64_t unit;  /* number of pieces in a unit; the last unit may have fewer */
    uint64_t units;
    uint64_t first, most; /* number of units that a thread takes in its first turn, and maximum number; 0: always one,
                           * untimed */
    double unit_ns;       /* estimated time of a unit in nanoseconds */
    struct cf__pool_range *ranges;
    uint32_t range_count;
    /* Number of workers that may join or are in the job; atomic. This field and the next ones have a separate cache
     * line, because workers read the fields above for each piece. */
    _Alignas(64) int workers;
    int seats, woken;             /* maximum number of workers; number of free workers below which sleeping workers are
                                   * woken */
    struct cf__pool_offer *offer; /* NULL: the workers do not know the job */
};

/* The units of a job that one thread has run, and the speed of the latest units. */
struct cf__pool_pace {
    uint64_t units, most; /* number of units run; maximum number to take next */
    double unit_ns;
    int64_t begin, since; /* times when the thread began and when its latest units began, in nanoseconds */
};

enum cf__pool_idle {
    CF__POOL_SLEEPS,   /* workers sleep, and a job has to wake them */
    CF__POOL_MAY_SPIN, /* workers may still be spinning after a job */
    CF__POOL_SPINS,    /* a worker is spinning */
};

/* Returns the pace of a thread that begins a job now. */
struct cf__pool_pace cf__pool_pace_begin(const struct cf__pool_job *job);

/* Runs and times `units` units of the job, from unit `begin` on, in the calling thread. */
void cf__pool_run_timed(const struct cf__pool_job *job, struct cf__pool_pace *pace, uint64_t begin, uint64_t units);

/* Runs all units from `begin` on, with at most `awake` workers. Sleeping workers are only woken while fewer than
 * `woken` workers are free. Returns the pace of the calling thread when the job is done. */
struct cf__pool_pace cf__pool_share(struct cf__pool_job *job, uint64_t begin, uint64_t awake, uint64_t woken);

/* Returns the state of the workers between jobs. */
enum cf__pool_idle cf__pool_idle_state(void);

#endif
