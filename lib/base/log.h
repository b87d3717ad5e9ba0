/* log.h - locks, and the log. */
#ifndef CF__LOG_H
#define CF__LOG_H

#include <pthread.h>

struct cf__operation_frame;

/* ---- Locks ---- */

/* All of the library's, but that of log.c: a thread that holds one tells the log nothing until it has given the last one
 * back. The callback may fork, which takes them all, and may take its time. */
extern _Thread_local struct cf__lock_state {
    int locks;
    int has_lines; /* that wait to be told */
} cf__held;

static inline void cf__lock(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    cf__held.locks++;
}

static inline int cf__trylock(pthread_mutex_t *lock)
{
    int is_taken = pthread_mutex_trylock(lock) == 0;
    cf__held.locks += is_taken;
    return is_taken;
}

void cf__log_waiting(void); /* tells the lines */

static inline void cf__unlock(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    if (--cf__held.locks == 0 && cf__held.has_lines)
        cf__log_waiting();
}

/* ---- The log ---- */

/* One line for the callback of cf_set_log(), if there is one. */
extern int cf__logging; /* 1 where there is one; atomic */
__attribute__((format(printf, 2, 3))) void cf__log_line(int level, const char *format, ...);
#define cf__log(...) (__atomic_load_n(&cf__logging, __ATOMIC_RELAXED) ? cf__log_line(__VA_ARGS__) : (void)0)

/* 1 while the calling thread is in the callback: functions that it calls there in spite of the rules fail where they would
 * change what the call around it uses. 0 in a child that was forked there, for which that call is over. */
int cf__log_is_inside(void);

/* Its lock, for fork; and in a child. */
void cf__log_lock(void);
void cf__log_unlock(void);
void cf__log_forget(void);

/* The operation that the calling thread enqueues; NULL: none. The log hides it from a child that its callback forks. */
extern _Thread_local const struct cf__operation_frame *cf__within;

#endif
