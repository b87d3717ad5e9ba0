/* ranges.h - NVTX ranges around calls of kernels, for profilers. Without a profiler no range begins, and launches do not
 * ask: one that is attached sends them to the slow path. */
#ifndef CF__RANGES_H
#define CF__RANGES_H

#include "base/fast.h"

/* Asks NVTX for a profiler before a driver comes into use. */
void cf__ranges_open(void);

/* Begin a range that bears a C function's name, with `suffix`, on the calling thread, and end the latest. */
void cf__range_push(const char *function, const char *suffix);
void cf__range_pop(void);

/* The same if a profiler is attached. Returns 1 if a range has begun, which the caller has to end. */
static inline int cf__range_begin(const char *function, const char *suffix)
{
    int is_on = cf__is_slow_path(CF__SLOW_PATH_RANGES);
    if (is_on)
        cf__range_push(function, suffix);
    return is_on;
}

#endif
