/* pool.h - worker threads. */
#ifndef CF__POOL_H
#define CF__POOL_H

#include <stdint.h>

/* Reads how many threads are wanted; before the first run. */
int cf__pool_configure(void);

/* The same, where that was not done since the pool last stopped. */
int cf__pool_ready(void);

/* How many threads run a job, the one that has it included. */
int cf__pool_size(void);

/* Calls `body` for all of `count` pieces, in chunks of `chunk` but the last, on the worker threads and the calling one;
 * returns when they are done. Each thread has chunks side by side, the same in each job of this size. */
typedef void cf__pool_body(void *data, uint64_t begin, uint64_t end);
void cf__pool_for(cf__pool_body *body, void *data, uint64_t count, uint64_t chunk);

void cf__pool_stop(void); /* ends the worker threads; a later run starts them anew */

/* For fork: the pool's lock, and with it held in a child, that the workers do not exist there. */
void cf__pool_lock(void);
void cf__pool_unlock(void);
void cf__pool_forget(void);

/* ---- Jobs whose pieces are timed ---- */

/* How long a thread looks for work, or for the end of it, before it sleeps: jobs follow one another within a call, and
 * to wake a thread takes 10 us and more. */
#define CF__POOL_SPIN_NS 50000

struct cf__pool_range;

/* A job: pieces, which are handed out in units. */
struct cf__pool_job {
    cf__pool_body *body;
    void *data;
    uint64_t count, unit; /* pieces, and how many are handed out together, at least */
    uint64_t units;
    uint64_t first, most; /* units that run at once: at first, and later; 0: always one, whose time does not count */
    double unit_ns;       /* as far as is known */
    struct cf__pool_range *ranges;
    uint32_t range_count;
    int workers; /* workers that are inside; written under the lock, like what follows */
    struct cf__pool_job *later;
};

/* What one thread ran of a job, and how long the latest of it took. */
struct cf__pool_pace {
    uint64_t units, most; /* most: that run at once next */
    double unit_ns;
    int64_t begin, since;
};

enum cf__pool_idle {
    CF__POOL_SLEEPS,   /* a worker has to be woken */
    CF__POOL_MAY_LOOK, /* workers look for work for a while after a job */
    CF__POOL_LOOKS,    /* a worker looks for work */
};

/* Nanoseconds of a clock that only goes on. */
int64_t cf__pool_now(void);

/* The pace of a thread that begins with a job now. */
struct cf__pool_pace cf__pool_pace_begin(const struct cf__pool_job *job);

/* Runs `units` of the job on the calling thread, and times them. */
void cf__pool_run_timed(const struct cf__pool_job *job, struct cf__pool_pace *pace, uint64_t begin, uint64_t units);

/* Runs the units from `begin` on with as many workers as are free and wanted; the pace of the calling thread. */
struct cf__pool_pace cf__pool_share(struct cf__pool_job *job, uint64_t begin, uint64_t wanted);

/* The state of the workers between jobs. */
enum cf__pool_idle cf__pool_idle_state(void);

#endif
