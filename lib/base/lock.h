/* lock.h - takes the library's locks, and counts the locks that each thread holds. */
#ifndef CF__LOCK_H
#define CF__LOCK_H

#include <pthread.h>

/* All locks of the library are taken by the functions below. A thread that holds a lock delays its log lines until it
 * holds none, because the log's callback may run for long and may fork, and a fork takes all locks. */
extern _Thread_local struct cf__lock_state {
    int held;                   /* number of locks that the thread holds */
    void (*all_released)(void); /* function to call when the thread has released its last lock, or NULL */
} cf__thread_locks;

/* cf__lock_taken() counts a lock of another kind, such as a file's. */
static inline void cf__lock_taken(void)
{
    cf__thread_locks.held++;
}

static inline void cf__lock_given_back(void)
{
    if (--cf__thread_locks.held == 0 && cf__thread_locks.all_released)
        cf__thread_locks.all_released();
}

static inline void cf__lock(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    cf__lock_taken();
}

/* Returns 1 if the lock was taken. */
static inline int cf__trylock(pthread_mutex_t *lock)
{
    int is_taken = pthread_mutex_trylock(lock) == 0;
    cf__thread_locks.held += is_taken;
    return is_taken;
}

static inline void cf__unlock(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    cf__lock_given_back();
}

#endif
