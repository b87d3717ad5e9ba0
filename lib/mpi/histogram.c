/* histogram.c - computes histograms, as sums of each rank's counts. */
#include <stdlib.h>
#include <string.h>

#include <cuferry/kernels.h>

#include "mpi/agree.h"
#include "mpi/array.h"
#include "mpi/value.h"

static const char function[] = "cf_mpi_histogram";

/* Maximum number of counts that one call of MPI adds, because MPI takes the number as an int. */
static const int64_t piece = (int64_t)1 << 30;

static int check_arguments(const struct cf__mpi_comm *state, const cf_mpi_array *x, const int64_t *counts, int64_t bins,
                           const void *lower, const void *upper)
{
    int status = cf__mpi_array_check_number(function, state, "x", x);
    if (status != CF_OK)
        return status;
    if (!counts || !lower || !upper)
        return cf__mpi_fail(CF_EINVAL, "%s: %s is NULL", function, !counts ? "counts" : !lower ? "lower" : "upper");
    return bins >= 1 ? CF_OK : cf__mpi_fail(CF_EINVAL, "%s: bins is %jd", function, (intmax_t)bins);
}

static uint64_t mix_arguments(const struct cf__mpi_comm *state, const cf_mpi_array *x, int64_t bins, const void *lower,
                              const void *upper)
{
    uint64_t value = cf__mpi_array_mix((uint64_t)bins, state, x);
    value = cf__mpi_mix(value, lower, cf_type_size(x->type));
    return cf__mpi_mix(value, upper, cf_type_size(x->type));
}

/* Counts this rank's part. */
static int count_part(const struct cf__mpi_comm *state, const cf_mpi_array *x, int64_t *counts, int64_t bins,
                      const void *lower, const void *upper)
{
    int64_t n = cf__mpi_array_count(state, x);
    int previous, status = cf__mpi_device_enter(x->device, &previous);
#define COUNT(T) cf_histogram((const T *)x->data, *(const T *)lower, *(const T *)upper, counts, n, bins)
    if (status == CF_OK)
        status = CF__MPI_OF_TYPE(x->type, COUNT);
#undef COUNT
    return cf__mpi_device_leave(status, x->device, previous);
}

/* Replaces the counts by their sums over all ranks. */
static int add_parts(const struct cf__mpi_comm *state, int64_t *own, int64_t bins)
{
    int status = CF_OK;
    for (int64_t i = 0; i < bins && status == CF_OK; i += piece)
        status = cf__mpi_result(MPI_Allreduce(MPI_IN_PLACE, own + i, (int)(bins - i < piece ? bins - i : piece),
                                              MPI_INT64_T, MPI_SUM, state->comm),
                                "MPI_Allreduce");
    return status;
}

int cf_mpi_histogram(MPI_Comm comm, const cf_mpi_array *x, int64_t *counts, int64_t bins, const void *lower,
                     const void *upper)
{
    struct cf__mpi_comm *state = NULL;
    int64_t *own = NULL;
    int status = cf__mpi_enter(function, comm, &state);
    if (status != CF_OK)
        return status;
    status = check_arguments(state, x, counts, bins, lower, upper);
    uint64_t checksum = status == CF_OK ? mix_arguments(state, x, bins, lower, upper) : 0;
    if (status == CF_OK && !(own = calloc((size_t)bins, sizeof *own)))
        status = cf__mpi_fail(CF_ENOMEM, "%s: no memory for the counts of %jd bins", function, (intmax_t)bins);
    if (status == CF_OK)
        status = count_part(state, x, own, bins, lower, upper);
    status = cf__mpi_agree_on(state->comm, function, status, checksum);
    if (status == CF_OK)
        status = add_parts(state, own, bins);
    if (status == CF_OK)
        memcpy(counts, own, (size_t)bins * sizeof *own);
    free(own);
    return status;
}
