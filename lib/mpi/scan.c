/* scan.c - computes exclusive scans: each rank scans its part and adds the sum of the ranks before it. */
#include <stdlib.h>

#include <cuferry/kernels.h>

#include "cuferry_mpi_kernels.h"
#include "mpi/agree.h"
#include "mpi/array.h"

static const char function[] = "cf_mpi_exclusive_scan";

static int check_arguments(const struct cf__mpi_comm *state, const cf_mpi_array *x, const cf_mpi_array *y)
{
    int status = cf__mpi_array_check_number(function, state, "x", x);
    if (status == CF_OK)
        status = cf__mpi_array_check_number(function, state, "y", y);
    return status == CF_OK ? cf__mpi_array_check_alike(function, state, "x", x, "y", y) : status;
}

/* Scans the rank's part of x into y, and sets *sum to the sum of the part that follows from its scan. */
static int scan_part(const struct cf__mpi_comm *state, const cf_mpi_array *x, cf_mpi_array *y, union cf__mpi_value *sum)
{
    int64_t n = cf__mpi_array_count(state, x);
    size_t size = cf_type_size(x->type), last = n > 0 ? (size_t)(n - 1) * size : 0;
    union cf__mpi_value element = {.i64 = 0};
    int status = n > 0 ? cf_mem_copy(&element, (const char *)x->data + last, size) : CF_OK; /* y may be x */
#define SCAN(T) cf_exclusive_scan((const T *)x->data, (T *)y->data, n)
    if (status == CF_OK)
        status = CF__MPI_OF_TYPE(x->type, SCAN);
#undef SCAN
    if (status == CF_OK && n > 0)
        status = cf_mem_copy(sum, (const char *)y->data + last, size);
    *sum = cf__mpi_value_add(x->type, *sum, element);
    return status;
}

static int shift_part(const struct cf__mpi_comm *state, cf_mpi_array *y, const union cf__mpi_value *before)
{
#define SHIFT(T) cfmpi_shift(*(const T *)before, (T *)y->data, cf__mpi_array_count(state, y))
    return CF__MPI_OF_TYPE(y->type, SHIFT);
#undef SHIFT
}

/* Adds the sums of the ranks from the first to the last, because MPI_Exscan() may add them in another order: the sum
 * before a rank's part must be that up to the last element of the part before. */
static int scan_parts(const struct cf__mpi_comm *state, const cf_mpi_array *x, cf_mpi_array *y, int status)
{
    union cf__mpi_value own = {.i64 = 0}, before = {.i64 = 0}, *sums = malloc((size_t)state->size * sizeof *sums);
    uint64_t checksum = status == CF_OK ? cf__mpi_array_mix(0, state, x) : 0;
    if (status == CF_OK && !sums)
        status = cf__mpi_fail(CF_ENOMEM, "%s: no memory for the sums of %d ranks", function, state->size);
    status = cf__mpi_agree_on(state->comm, function, status, checksum);
    if (status == CF_OK) {
        status = scan_part(state, x, y, &own);
        int gathered = MPI_Allgather(&own, sizeof own, MPI_BYTE, sums, sizeof own, MPI_BYTE, state->comm);
        if (status == CF_OK)
            status = cf__mpi_result(gathered, "MPI_Allgather");
        for (int rank = 0; status == CF_OK && rank < state->rank; rank++)
            before = cf__mpi_value_add(x->type, before, sums[rank]);
        if (status == CF_OK && state->rank > 0)
            status = shift_part(state, y, &before);
        status = cf__mpi_agree(state->comm, status);
    }
    free(sums);
    return status;
}

int cf_mpi_exclusive_scan(MPI_Comm comm, const cf_mpi_array *x, cf_mpi_array *y)
{
    struct cf__mpi_comm *state = NULL;
    int previous = CF_HOST, device = CF_HOST, status = cf__mpi_enter(function, comm, &state);
    if (status != CF_OK)
        return status;
    status = check_arguments(state, x, y);
    if (status == CF_OK) {
        device = cf__mpi_device_of(x, y);
        status = cf__mpi_device_enter(device, &previous);
    }
    return cf__mpi_device_leave(scan_parts(state, x, y, status), device, previous);
}
