/* clock.h - the library's clock. */
#ifndef CF__CLOCK_H
#define CF__CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t cf__now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
