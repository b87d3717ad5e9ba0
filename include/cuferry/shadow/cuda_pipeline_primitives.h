/* cuda_pipeline_primitives.h - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUDA_PIPELINE_PRIMITIVES_H
#define CUFERRY_CUDA_PIPELINE_PRIMITIVES_H

#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN
/* Copies are made at once. */
CF__FN void __pipeline_memcpy_async(void *__restrict__ to, const void *__restrict__ from, size_t bytes,
                                    size_t zeros = 0)
{
    __builtin_memcpy(to, from, bytes - zeros);
    __builtin_memset(static_cast<char *>(to) + (bytes - zeros), 0, zeros);
}

CF__FN void __pipeline_commit()
{
}

CF__FN void __pipeline_wait_prior(size_t)
{
}
#endif

#endif
