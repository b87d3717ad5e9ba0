/* small_calls.h - short helpers for tests of devices: the current device, the number of GPUs, and a call of a
 * kernel. */
#ifndef SMALL_CALLS_H
#define SMALL_CALLS_H

#include <limits.h>

#include <cuferry/kernels.h>

#include "run_group.h"

/* Runs a small gather on host arrays, which works on any device. */
static inline int gather(void)
{
    const float source[] = {1, 2, 3};
    const int32_t index[] = {2, 0, 1, 2};
    float res[4] = {0};
    int status = cf_gather_f32_i32(source, index, res, 4, 3);
    if (status == CF_OK && !(res[0] == 3 && res[1] == 1 && res[2] == 2 && res[3] == 3))
        fail_msg("gather gave %g %g %g %g", (double)res[0], (double)res[1], (double)res[2], (double)res[3]);
    return status;
}

static inline int device_now(void)
{
    int device = INT_MIN;
    assert_ok(cf_device_current(&device));
    return device;
}

static inline int gpu_count(void)
{
    int count = -1;
    assert_ok(cf_device_count(&count));
    return count;
}

#endif
