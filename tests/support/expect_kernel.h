/* expect_kernel.h - macros for kernels that check themselves and have a parameter int *wrong of two elements: EXPECT()
 * sets wrong[0] to its line if it fails, and EXPECT_END, at the end, counts threads in wrong[1]. */
#ifndef EXPECT_KERNEL_H
#define EXPECT_KERNEL_H

#define EXPECT(condition)                      \
    do {                                       \
        if (!(condition))                      \
            atomicCAS(&wrong[0], 0, __LINE__); \
    } while (0)

#define EXPECT_END atomicAdd(&wrong[1], 1)

#endif
