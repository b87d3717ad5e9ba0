/* __shared__ memory that the CPU's copy of the source cannot declare. */
#include <stdint.h>

#define BUFFER(T, n) __shared__ T buffer[n]; int used = 0
#define DECLARE __shared__
#define NAMED(name) name[32]

/* A type with the variable's name inside. */
#pragma cf kernel grid(n) inout(x[n])
__global__ void pointer_to_function(int *x, int n)
{
    __shared__ int (*function)(int);
    function = nullptr;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void macro_with_more(int *x, int n)
{
    BUFFER(int, 32);
    buffer[threadIdx.x] = used;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void name_of_a_macro(int *x, int n)
{
    __shared__ int NAMED(kept);
    kept[threadIdx.x] = 0;
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
