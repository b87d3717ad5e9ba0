/* normalise.c - the launches of vec_normalise(): a bundled kernel and a kernel of the project. */
#include <cuferry/kernels.h>

#include "vec_internal.h"

int vec__enqueue_normalise(cf_stream stream, double *x, double *total, int64_t n)
{
    int status = cf_sum_f64_async(stream, x, total, n);
    return status == CF_OK ? vec_divide_async(stream, x, total, n) : status;
}
