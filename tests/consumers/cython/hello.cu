/* Prints a greeting from each of three threads. */
#include <cstdio>
#pragma cf kernel blocks(1) block(3)
__global__ void hello()
{
    printf("Hello from thread %d\n", (int)threadIdx.x);
}
