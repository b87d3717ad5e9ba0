/* expect_kernel.h - macros for kernels that check themselves: EXPECT() in a kernel with a parameter int *wrong of two
 * elements, and EXPECT_END at its end. wrong[0] is the line of a failed expectation, wrong[1] counts threads. */
#ifndef EXPECT_KERNEL_H
#define EXPECT_KERNEL_H

#define EXPECT(condition)                      \
    do {                                       \
        if (!(condition))                      \
            atomicCAS(&wrong[0], 0, __LINE__); \
    } while (0)

#define EXPECT_END atomicAdd(&wrong[1], 1)

#endif
