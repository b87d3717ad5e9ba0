/* log.h - locks, and the log. */
#ifndef CF__LOG_H
#define CF__LOG_H

#include <pthread.h>

struct cf__operation_frame;

/* ---- Locks ---- */

/* Every lock of the library except log.c's own is taken here. Log lines of a thread that holds a lock wait until it
 * holds none, because the callback may take long, and may fork, which takes all locks. */
extern _Thread_local struct cf__lock_state {
    int locks;     /* locks that the thread holds */
    int has_lines; /* log lines are waiting */
} cf__thread_locks;

static inline void cf__lock(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    cf__thread_locks.locks++;
}

/* Returns 1 if the lock was taken. */
static inline int cf__trylock(pthread_mutex_t *lock)
{
    int is_taken = pthread_mutex_trylock(lock) == 0;
    cf__thread_locks.locks += is_taken;
    return is_taken;
}

/* Passes the waiting lines to the callback. */
void cf__log_flush(void);

static inline void cf__unlock(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    if (--cf__thread_locks.locks == 0 && cf__thread_locks.has_lines)
        cf__log_flush();
}

/* ---- The log ---- */

extern int cf__logging; /* cf_set_log() has set a callback; atomic */
__attribute__((format(printf, 2, 3))) void cf__log_line(int level, const char *format, ...);

/* Passes one line to the callback of cf_set_log(), if there is one. */
#define cf__log(...) (__atomic_load_n(&cf__logging, __ATOMIC_RELAXED) ? cf__log_line(__VA_ARGS__) : (void)0)

/* Returns 1 while the calling thread is inside the callback, where functions fail that would change the state of the
 * call around it. Returns 0 in a child that the callback forks, because that call does not go on there. */
int cf__log_is_inside(void);

/* The log's lock, for fork. */
void cf__log_lock(void);
void cf__log_unlock(void);

/* Drops the waiting lines in a forked child. */
void cf__log_forget(void);

/* The operation that the calling thread is enqueuing, or NULL. A child that the callback forks starts with NULL. */
extern _Thread_local const struct cf__operation_frame *cf__current_operation;

#endif
