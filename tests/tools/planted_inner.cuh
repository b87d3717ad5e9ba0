/* planted_inner.cuh - device code of planted.cu that is in a header. */
#ifndef PLANTED_INNER_CUH
#define PLANTED_INNER_CUH

#include "planted_types.h"

template <typename T, int STEP> __device__ T neighbour(const T *x, int i)
{
    return x[i + STEP]; /* INNER in_header */
}

#endif
