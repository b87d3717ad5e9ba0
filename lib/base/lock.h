/* lock.h - takes the library's locks, and counts those that a thread holds. */
#ifndef CF__LOCK_H
#define CF__LOCK_H

#include <pthread.h>

/* Every lock of the library is taken by the functions below. Log lines of a thread that holds a lock wait until it holds
 * none, because the callback may take long, and may fork, which takes all locks. */
extern _Thread_local struct cf__lock_state {
    int held;                   /* locks that the thread holds */
    void (*all_released)(void); /* called when the thread holds no lock any more; NULL: nothing waits for that */
} cf__thread_locks;

/* A lock of another kind, such as that of a file, counts as well. */
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
