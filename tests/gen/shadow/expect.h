/* expect.h - shared by the kernels of test_shadow.py: EXPECT() for a kernel called check(), and a main function that
 * runs the kernel on the CPU or a GPU and prints the line of the first expectation that failed. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>

/* For functions that have a parameter int *wrong. */
#define EXPECT(condition)                \
    do {                                 \
        if (!(condition) && *wrong == 0) \
            *wrong = __LINE__;           \
    } while (0)

__global__ void check(int *wrong);

#if defined __NVCC__
static int run(int *wrong)
{
    int *on_device;
    if (cudaMalloc(&on_device, sizeof(int)) != cudaSuccess) {
        puts("needs a GPU");
        return 77;
    }
    cudaMemset(on_device, 0, sizeof(int));
    check<<<1, 1>>>(on_device);
    if (cudaMemcpy(wrong, on_device, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) {
        puts(cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    return 0;
}
#else
static int run(int *wrong);
#define EXPECT_RUN             \
    static int run(int *wrong) \
    {                          \
        gridDim = {1, 1, 1};   \
        blockDim = {1, 1, 1};  \
        blockIdx = {0, 0, 0};  \
        threadIdx = {0, 0, 0}; \
        check(wrong);          \
        return 0;              \
    }
#endif
#ifndef EXPECT_RUN
#define EXPECT_RUN
#endif

int main(void)
{
    int wrong = 0, status = run(&wrong);
    if (wrong)
        printf("line %d does not hold\n", wrong);
    return status ? status : wrong != 0;
}

#endif
