/* fault_locks.c - counts the mutexes that each thread holds. The linker's option --wrap=pthread_mutex_lock redirects
 * calls of pthread_mutex_lock() to __wrap_pthread_mutex_lock(). */
#include "fault_locks.h"

#include <pthread.h>

static _Thread_local int held;

#define DECLARE(name)                         \
    int __real_##name(pthread_mutex_t *lock); \
    int __wrap_##name(pthread_mutex_t *lock);
DECLARE(pthread_mutex_lock)
DECLARE(pthread_mutex_trylock)
DECLARE(pthread_mutex_unlock)
#undef DECLARE

int locks_held(void)
{
    return held;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
    int error = __real_pthread_mutex_lock(lock);
    held += error == 0;
    return error;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *lock)
{
    int error = __real_pthread_mutex_trylock(lock);
    held += error == 0;
    return error;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
    held--;
    return __real_pthread_mutex_unlock(lock);
}
