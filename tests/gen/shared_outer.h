/* shared_outer.h - a header that includes one with __shared__ memory, and has dynamic memory itself. */
#ifndef SHARED_OUTER_H
#define SHARED_OUTER_H

#include "shared_inner.h"

__device__ inline int *dynamic_memory()
{
    extern __shared__ int memory[];
    return memory;
}

/* Nothing calls it. */
template <typename T> __device__ void unused_there()
{
    __shared__ T (*function)(int);
}

#endif
