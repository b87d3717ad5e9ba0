/* lock.c - counts the locks that each thread holds. */
#include "base/lock.h"

_Thread_local struct cf__lock_state cf__thread_locks;
