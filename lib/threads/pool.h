/* pool.h - worker threads. */
#ifndef CF__POOL_H
#define CF__POOL_H

#include <stdint.h>

/* Reads CF_THREADS and counts processors. Returns a status. Called before the first job. */
int cf__pool_configure(void);

/* Configures the pool unless that was done since cf__pool_stop(). */
int cf__pool_ready(void);

/* Returns how many threads run a job, including the calling one. */
int cf__pool_size(void);

/* Processes pieces [begin, end) of a job; called on several threads at once. */
typedef void cf__pool_body(void *data, uint64_t begin, uint64_t end);

/* Calls `body` for pieces [0, count) on the worker threads and on the calling thread, and returns when all are done. A
 * call of `body` gets whole units of `unit` pieces; the last unit may be shorter. A thread gets adjacent units, the same
 * ones in each job of this size. */
void cf__pool_for(cf__pool_body *body, void *data, uint64_t count, uint64_t unit);

/* Ends the worker threads; a later job starts new ones. */
void cf__pool_stop(void);

/* The pool's lock, for fork. */
void cf__pool_lock(void);
void cf__pool_unlock(void);

/* Forgets the workers, in a forked child. Caller holds the lock. */
void cf__pool_forget(void);

/* ---- Jobs whose pieces are timed ---- */

/* Nanoseconds that a thread spins for work, or for the end of a job, before it sleeps: the jobs of a call follow one
 * another, and waking a thread takes 10 us or more. */
#define CF__POOL_SPIN_NS 50000

struct cf__pool_range;

/* A job: pieces, which threads take in units. */
struct cf__pool_job {
    cf__pool_body *body;
    void *data;
    uint64_t count; /* pieces */
    uint64_t unit;  /* pieces of a unit; the last unit may have fewer */
    uint64_t units;
    uint64_t first, most; /* units that a thread takes at once: at first, and at most; 0: always one, not timed */
    double unit_ns;       /* estimated time of a unit, in nanoseconds */
    struct cf__pool_range *ranges;
    uint32_t range_count;
    /* Workers that are invited or in the job; atomic. The fields from here on have a cache line of their own, since
     * workers read the ones above for each piece. */
    _Alignas(64) int workers;
    int awake, woken;   /* most workers in all, and most that are invited if they sleep */
    int invited, reach; /* workers invited so far, and the highest number of one, plus 1 */
};

/* The units that one thread ran of a job, and how long the latest ones took. */
struct cf__pool_pace {
    uint64_t units, most; /* units run, and the most to take next */
    double unit_ns;
    int64_t begin, since; /* times of the thread's begin and of its latest units, in nanoseconds */
};

enum cf__pool_idle {
    CF__POOL_SLEEPS,   /* a job has to wake the workers */
    CF__POOL_MAY_SPIN, /* workers spin for a while after a job */
    CF__POOL_SPINS,    /* a worker is spinning */
};

/* Returns the pace of a thread that begins with a job now. */
struct cf__pool_pace cf__pool_pace_begin(const struct cf__pool_job *job);

/* Runs and times `units` of the job, from unit `begin` on, on the calling thread. */
void cf__pool_run_timed(const struct cf__pool_job *job, struct cf__pool_pace *pace, uint64_t begin, uint64_t units);

/* Runs all units from `begin` on, with at most `awake` workers, as far as they are free; sleeping workers are woken
 * while there are fewer than `woken`. Returns the pace of the calling thread when the job is done. */
struct cf__pool_pace cf__pool_share(struct cf__pool_job *job, uint64_t begin, uint64_t awake, uint64_t woken);

/* Returns the state of the workers between jobs. */
enum cf__pool_idle cf__pool_idle_state(void);

#endif
