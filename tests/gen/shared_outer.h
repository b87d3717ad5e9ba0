/* shared_outer.h - a header that includes a header with __shared__ memory, and itself has dynamic shared memory. */
#ifndef SHARED_OUTER_H
#define SHARED_OUTER_H

#include "shared_inner.h"

__device__ inline int *dynamic_memory()
{
    extern __shared__ int memory[];
    return memory;
}

/* This template is never instantiated. */
template <typename T> __device__ void unused_there()
{
    __shared__ T (*function)(int);
}

#endif
