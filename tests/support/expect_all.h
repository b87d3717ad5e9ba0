/* expect_all.h - runs kernels that check themselves: see expect_kernel.h. */
#ifndef EXPECT_ALL_H
#define EXPECT_ALL_H

#include "played_gpu.h"

/* Calls a kernel that checks itself, and asserts that `threads` threads reached its end. */
#define expect_all(threads, call, ...)                                                 \
    do {                                                                               \
        int wrong[2] = {0, 0};                                                         \
        if (call(__VA_ARGS__, wrong) != CF_OK)                                         \
            fail_msg("%s", cf_last_error());                                           \
        if (wrong[0])                                                                  \
            fail_msg("%s: line %d of the kernel file does not hold", #call, wrong[0]); \
        assert_int_equal(wrong[1], threads);                                           \
    } while (0)

#endif
