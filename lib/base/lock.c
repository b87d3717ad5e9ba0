/* lock.c - each thread's count of the locks that it holds. */
#include "base/lock.h"

_Thread_local struct cf__lock_state cf__thread_locks;
