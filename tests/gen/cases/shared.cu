/* __shared__ memory that the CPU's copy of the source cannot declare. */
#include <stdint.h>

/* A type with the variable's name inside. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void pointer_to_function(int *x, int n)
{
    __shared__ int (*function)(int);
    function = nullptr;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void nothing(int *x, int n)
{
    __shared__ ;
}

__shared__ int outside;

struct counter {
    int value;
    __device__ int get() { return outside + value; }
};

#pragma cf kernel grid(n) inout(x[n])
__global__ void outside_in_a_class(int *x, int n)
{
    counter c = {1};
    x[0] = c.get();
}
