/* scan.c - computes exclusive scans: each rank scans its part and adds the sum of the ranks before it. */
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

static int scan_part(const struct cf__mpi_comm *state, const cf_mpi_array *x, cf_mpi_array *y,
                     const union cf__mpi_value *before)
{
    int64_t n = cf__mpi_array_count(state, x);
#define SCAN(T) cf_exclusive_scan((const T *)x->data, (T *)y->data, n)
#define SHIFT(T) cfmpi_shift(*(const T *)before, (T *)y->data, n)
    int status = CF__MPI_OF_TYPE(x->type, SCAN);
    if (status != CF_OK || !state->rank)
        return status;
    return CF__MPI_OF_TYPE(x->type, SHIFT);
#undef SCAN
#undef SHIFT
}

/* Computes the sum before y changes: y may be x, and if another rank has failed, y must not change. */
static int scan_parts(const struct cf__mpi_comm *state, const cf_mpi_array *x, cf_mpi_array *y, int status)
{
    union cf__mpi_value sum = {.i64 = 0}, before = {.i64 = 0};
    uint64_t checksum = status == CF_OK ? cf__mpi_array_mix(0, state, x) : 0;
    if (status == CF_OK)
        status = cf__mpi_array_sum(state, x, &sum);
    status = cf__mpi_agree_on(state->comm, function, status, checksum);
    if (status == CF_OK)
        status = cf__mpi_result(MPI_Exscan(&sum, &before, 1, cf__mpi_value_type(x->type), MPI_SUM, state->comm),
                                "MPI_Exscan");
    return status == CF_OK ? cf__mpi_agree(state->comm, scan_part(state, x, y, &before)) : status;
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
