/* ranges.h - marks calls of kernels as NVTX ranges for profilers. While a profiler is attached, launches take the slow
 * path, so that the fast path need not check for one. */
#ifndef CF__RANGES_H
#define CF__RANGES_H

#include "base/fast.h"

/* Lets NVTX look for a profiler, before a driver comes into use. */
void cf__ranges_open(void);

/* Begin a range on the calling thread, named after a C function with `suffix`, and end the latest range. */
void cf__range_push(const char *function, const char *suffix);
void cf__range_pop(void);

/* Begins a range if a profiler is attached. Returns 1 if a range has begun, which the caller has to end. */
static inline int cf__range_begin(const char *function, const char *suffix)
{
    int is_on = cf__is_slow_path(CF__SLOW_PATH_RANGES);
    if (is_on)
        cf__range_push(function, suffix);
    return is_on;
}

#endif
