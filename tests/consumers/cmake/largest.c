/* largest.c - the launches of norm_largest(). */
#include "norm_kernels_internal.h"

int norm__enqueue_largest(cf_stream stream, const int64_t *x, int64_t *result, int64_t n)
{
    int status = cf_mem_fill_async(stream, result, 0x80, sizeof *result); /* below every distance */
    return status == CF_OK ? norm_raise_async(stream, x, result, n) : status;
}
