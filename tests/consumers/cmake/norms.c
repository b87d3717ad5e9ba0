/* norms.c - a library with private kernels. */
#include "norms.h"

#include <norm_kernels.h>

int64_t largest_distance(const int64_t *distances, int64_t count)
{
    int64_t result;
    return norm_largest(distances, &result, count) == CF_OK ? result : -1;
}
