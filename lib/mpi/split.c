/* split.c - computes offsets that share elements evenly. */
#include <cuferry/mpi.h>

#include "mpi/agree.h"

int cf_mpi_split(int64_t length, int ranks, int64_t *offsets)
{
    if (length < 0)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_split: length is %jd", (intmax_t)length);
    if (ranks < 1)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_split: ranks is %d", ranks);
    if (!offsets)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_split: offsets is NULL");
    int64_t part = length / ranks, rest = length % ranks;
    for (int rank = 0; rank <= ranks; rank++)
        offsets[rank] = rank * part + (rank < rest ? rank : rest);
    return CF_OK;
}
