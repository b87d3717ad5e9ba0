/* verify_operation.c - what runs in the place of kernels of verify.cu: the same, and something else. */
#include "verify_internal.h"

int verify__enqueue_halves_of_many(cf_stream stream, const float *x, float *y, int n)
{
    return verify_scales_async(stream, x, y, 0.5f, n);
}

int verify__enqueue_thirds_of_many(cf_stream stream, const float *x, float *y, int n)
{
    return verify_scales_async(stream, x, y, 0.25f, n);
}
